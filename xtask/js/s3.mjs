// The S3 side of Miniflare's R2, with one bucket, until it is told to stop: another store than s3s-fs.
//
//   node s3.mjs --state DIR --bucket NAME --key ID --secret KEY
//
// One line of JSON on standard output, {"url": …}, says that it is ready. Standard input is the leash, as in workerd.mjs.

import { parseArgs } from "node:util";

import { Miniflare } from "miniflare";

const text = { type: "string" };
const { values: args } = parseArgs({ options: { state: text, bucket: text, key: text, secret: text } });
const bucket = { id: args.bucket, s3Credentials: { accessKeyId: args.key, secretAccessKey: args.secret } };

const miniflare = new Miniflare({
  host: "127.0.0.1",
  port: 0,
  modules: true,
  // The endpoint needs no Worker, but Miniflare does.
  script: "export default { fetch: () => new Response(null, { status: 404 }) };",
  r2Buckets: { BUCKET: bucket },
  r2Persist: args.state,
});

async function stop() {
  await miniflare.dispose();
  process.exit(0);
}

for (const signal of ["SIGINT", "SIGTERM"]) process.on(signal, stop);
process.stdin.on("end", stop);
process.stdin.resume();

const url = new URL("/cdn-cgi/local/r2/s3", await miniflare.ready);
console.log(JSON.stringify({ url: url.href }));
