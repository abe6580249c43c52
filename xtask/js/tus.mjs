// Uploads a file with tus-js-client, as a page or an app would, through whatever network there is.
//
//   node tus.mjs --url URL --token TOKEN [--space ID] --path PATH --file FILE --part BYTES
//
// One line of JSON on standard output says how it went: {"parts": …, "retries": …}.

import { createReadStream, statSync } from "node:fs";
import { parseArgs } from "node:util";

import { Upload } from "tus-js-client";

const option = { type: "string" };
const { values: args } = parseArgs({
  options: { url: option, token: option, space: option, path: option, file: option, part: option },
});

let [parts, retries] = [0, 0];
const upload = new Upload(createReadStream(args.file), {
  endpoint: `${args.url}/api/v1/uploads`,
  headers: { authorization: `Bearer ${args.token}` },
  metadata: { ...(args.space && { space: args.space }), path: args.path, filetype: "application/x-tus-test" },
  chunkSize: Number(args.part),
  uploadSize: statSync(args.file).size,
  // As many as the network may need: between two parts that arrive the count begins anew.
  retryDelays: Array(50).fill(20),
  onShouldRetry(error) {
    retries += 1;
    const status = error.originalResponse?.getStatus() ?? 0;
    return status === 0 || status >= 500 || status === 409 || status === 423;
  },
  onChunkComplete() {
    parts += 1;
  },
  onError(error) {
    console.error(`${error}`);
    process.exit(1);
  },
  onSuccess() {
    process.stdout.write(`${JSON.stringify({ parts, retries })}\n`);
  },
});
upload.start();
