// Runs Workers in workerd, with local D1, R2 and Queues behind them, until it is told to stop.
//
//   node workerd.mjs --state DIR [--port N] [--var NAME=VALUE ...] [--object BINDING/KEY=TEXT ...] [--tick-secs N] --worker CONFIG=BUILD_DIR [--worker CONFIG=BUILD_DIR ...]
//
// Bindings come from the wrangler.toml files, so they can't drift from what is deployed; a variable of all Workers
// can be set beside them, and objects put into their buckets before anything else. The first Worker
// answers on 127.0.0.1:N (0 or absent: a free port); the socket is workerd's own, with no proxy in front.
// State lies in DIR the way `wrangler --persist-to DIR` lays it out. One line of JSON on standard output,
// {"url": …}, says that the Workers are ready. Standard input is the leash: the process stops when it closes,
// so it can't outlive its parent. It also stops on SIGINT and SIGTERM.

import { readdirSync } from "node:fs";
import path from "node:path";
import { parseArgs } from "node:util";

import { Log, LogLevel, Miniflare } from "miniflare";
import { unstable_getMiniflareWorkerOptions as readWorkerOptions, unstable_readConfig } from "wrangler";

const HOST = "127.0.0.1";

const { values: args } = parseArgs({
  options: {
    state: { type: "string" },
    port: { type: "string", default: "0" },
    worker: { type: "string", multiple: true },
    var: { type: "string", multiple: true, default: [] },
    object: { type: "string", multiple: true, default: [] },
    "tick-secs": { type: "string", default: "60" },
  },
});

/** The modules of a built Worker: the entry point first, then the WebAssembly that it imports. */
function modules(buildDir) {
  const wasm = readdirSync(buildDir).filter((name) => name.endsWith(".wasm"));
  return [
    { type: "ESModule", path: path.join(buildDir, "index.js") },
    ...wasm.map((name) => ({ type: "CompiledWasm", path: path.join(buildDir, name) })),
  ];
}

const variables = Object.fromEntries(
  args.var.map((given) => {
    const [name, ...value] = given.split("=");
    return [name, value.join("=")];
  }),
);

/** Buckets of R2 that LEDGE_BUCKETS names by a binding: each has one of its name. */
const named = Object.entries(JSON.parse(variables.LEDGE_BUCKETS ?? "{}"));
const moreBuckets = Object.fromEntries(
  named.filter(([, entry]) => entry.binding).map(([name, entry]) => [entry.binding, { id: name }]),
);

function worker(argument, index) {
  const [config, dir] = argument.split("=");
  const buildDir = path.resolve(dir);
  const { workerOptions } = readWorkerOptions(config);
  return {
    ...workerOptions,
    bindings: { ...workerOptions.bindings, ...variables },
    r2Buckets: { ...workerOptions.r2Buckets, ...moreBuckets },
    name: `worker-${index}`,
    modulesRoot: buildDir,
    modules: modules(buildDir),
    unsafeDirectSockets: index === 0 ? [{ host: HOST, port: Number(args.port) }] : [],
  };
}

const persist = (kind) => path.join(path.resolve(args.state), "v3", kind);

const miniflare = new Miniflare({
  host: HOST,
  port: 0,
  log: new Log(LogLevel.WARN),
  cf: false,
  d1Persist: persist("d1"),
  r2Persist: persist("r2"),
  workers: args.worker.map(worker),
});

let stopping = false;
async function stop() {
  if (stopping) return;
  stopping = true;
  await miniflare.dispose();
  process.exit(0);
}

process.on("SIGINT", stop);
process.on("SIGTERM", stop);
process.stdin.on("end", stop);
process.stdin.on("error", stop);
process.stdin.resume();

await miniflare.ready;

for (const object of args.object) {
  const [, binding, key, text] = object.match(/^([^/]+)\/([^=]+)=(.*)$/s);
  const bucket = await miniflare.getR2Bucket(binding, "worker-0");
  await bucket.put(key, text);
}

/** Runs the cron triggers of every Worker that has some. At once, since what an earlier process had in its queues is lost. */
async function tick() {
  for (const [index, argument] of args.worker.entries()) {
    const [config] = argument.split("=");
    const crons = unstable_readConfig({ config }).triggers?.crons ?? [];
    if (stopping || crons.length === 0) continue;
    try {
      const worker = await miniflare.getWorker(`worker-${index}`);
      await worker.scheduled({ cron: crons[0] });
    } catch (error) {
      if (!stopping) console.error(`a tick failed: ${error}`);
    }
  }
}

async function ticks() {
  while (!stopping) {
    await tick();
    await new Promise((resolve) => setTimeout(resolve, 1000 * Number(args["tick-secs"])));
  }
}
const url = await miniflare.unsafeGetDirectURL("worker-0");
void ticks();
process.stdout.write(`${JSON.stringify({ url: url.origin })}\n`);
