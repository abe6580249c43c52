# Takes the command line of tests/spin-host and runs `spin up` with it: one line of JSON when it answers, and an end when
# standard input ends. Components, routes and variables are those of spin.toml.
set -eu

listen=127.0.0.1:3000; tick=10; secret=
set -- "$@" --
while [ "$1" != -- ]; do
    name=$1 value=$2; shift 2
    case $name in
    --database)
        database=$value; state=$(mktemp -d)
        printf '[sqlite_database.default]\ntype = "spin"\npath = "%s"\n' "$value" > "$state/runtime.toml" ;;
    --sqlite) set -- "$@" --sqlite "@$value" ;;
    --variable)
        case $value in ledge_jobs_secret=*) secret=${value#*=} ;; esac
        set -- "$@" --variable "$value" ;;
    --listen) listen=$value ;;
    --tick-secs) tick=$value ;;
    --reuse) set -- "$@" --max-instance-reuse-count "$value" ;;
    --idle-secs) set -- "$@" --idle-instance-timeout "${value}s" ;;
    --memory-mib) set -- "$@" --max-instance-memory $((value * 1048576)) ;;
    --gateway | --functions | --cache) ;;
    *) echo "there is no $name" >&2; exit 1 ;;
    esac
done
shift
: "${database:?--database is missing}"

trap 'kill $spin $sweeps 2> /dev/null; rm -rf "$state"' EXIT
sweeps=
spin up --from spin.toml --listen "$listen" --find-free-port --state-dir "$state" \
    --runtime-config-file "$state/runtime.toml" "$@" > "$state/said" 2>&1 &
spin=$!
while :; do
    url=$(sed -n 's/^Serving \(http:[^ ]*\).*/\1/p' "$state/said" | head -n 1)
    [ -n "$url" ] && break
    kill -0 $spin 2> /dev/null || { cat "$state/said" >&2; exit 1; }
    sleep 0.05
done
tail -f -n +1 "$state/said" >&2 &
sweeps=$!
# What a cron job does where Spin is deployed. Where this script is killed, nothing goes on after it.
(while sleep "$tick"; do
    kill -0 $$ 2> /dev/null || { kill -9 $spin $sweeps; exit; }
    curl -sS -o /dev/null -X POST -H "x-ledge-jobs-secret: $secret" "$url/internal/jobs/run" || :
done) >&2 &
sweeps="$sweeps $!"
echo "{\"url\": \"$url\"}"
cat > /dev/null
