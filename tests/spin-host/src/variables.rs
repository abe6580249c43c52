//! `spin:variables`: those of the command line.

use wasmtime::component::{Accessor, HasSelf, Linker};

use crate::instance::State;
use crate::sqlite::bindings::spin::variables::variables::{self, Error, Host, HostWithStore};

/// Gives the interface to components.
pub fn add_to_linker(linker: &mut Linker<State>) -> wasmtime::Result<()> {
    variables::add_to_linker::<_, HasSelf<State>>(linker, |state| state)
}

impl Host for State {}

impl<T> HostWithStore<T> for HasSelf<State> {
    async fn get(accessor: &Accessor<T, Self>, name: String) -> Result<String, Error> {
        accessor.with(|mut access| {
            let found = access.get().shared.variables.get(&name).cloned();
            found.ok_or(Error::Undefined(name))
        })
    }
}
