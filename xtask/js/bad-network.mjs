// A bad network: an HTTP proxy that refuses large bodies, as Cloudflare's plans do, and cuts connections.
//
//   node bad-network.mjs --to URL [--limit BYTES] [--cut-every BYTES] [--seed N]
//
// A body of more than `limit` bytes is answered 413. Of the bodies that pass, a connection is cut once in about
// `cut-every` bytes, in the middle of a body or with the answer lost; 0 cuts none. One line of JSON on standard output,
// {"url": …}, says where it listens; one more, {"cuts": …, "refused": …}, comes at the end. Standard input is the leash.

import http from "node:http";
import { parseArgs } from "node:util";

const { values: args } = parseArgs({
  options: {
    to: { type: "string" },
    limit: { type: "string", default: "100000000" },
    "cut-every": { type: "string", default: "0" },
    seed: { type: "string", default: "1" },
  },
});
const to = new URL(args.to);
const [limit, cutEvery] = [Number(args.limit), Number(args["cut-every"])];
let [cuts, refused, state] = [0, 0, Number(args.seed) >>> 0 || 1];

/** A number from 0 to 1, the same row of them for the same seed: xorshift32. */
function random() {
  state ^= state << 13;
  state ^= state >>> 17;
  state ^= state << 5;
  return (state >>> 0) / 2 ** 32;
}

const until = () => (cutEvery > 0 ? random() * 2 * cutEvery : Infinity);
let budget = until();

const server = http.createServer((request, response) => {
  if (Number(request.headers["content-length"] ?? 0) > limit) {
    refused += 1;
    response.writeHead(413, { connection: "close" }).end();
    return;
  }
  const { method, url, headers } = request;
  const onward = http.request({ host: to.hostname, port: to.port, method, path: url, headers, agent: false });
  const cut = () => {
    cuts += 1;
    budget = until();
    request.socket.destroy();
    onward.destroy();
  };
  let loseAnswer = false;
  request.on("data", (bytes) => {
    budget -= bytes.length;
    if (budget < 0 && !loseAnswer) {
      // One time in three all of it arrives, and what was answered doesn't come back.
      loseAnswer = random() < 1 / 3;
      if (!loseAnswer) return cut();
    }
    if (!onward.destroyed && !onward.write(bytes)) {
      request.pause();
      onward.once("drain", () => request.resume());
    }
  });
  request.on("end", () => onward.end());
  request.on("error", () => onward.destroy());
  request.on("close", () => request.complete || onward.destroy());
  onward.on("error", () => request.socket.destroy());
  onward.on("response", (answer) => {
    if (loseAnswer) return cut();
    response.writeHead(answer.statusCode, answer.headers);
    answer.pipe(response);
    answer.on("error", () => request.socket.destroy());
  });
});

process.stdin.on("end", () => {
  process.stdout.write(`${JSON.stringify({ cuts, refused })}\n`, () => process.exit(0));
});
process.stdin.resume();
server.listen(0, "127.0.0.1", () => {
  process.stdout.write(`${JSON.stringify({ url: `http://127.0.0.1:${server.address().port}` })}\n`);
});
