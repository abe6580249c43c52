// Fetches a URL and prints the body: `node get.mjs URL`. Fails unless the answer is 2xx.

const response = await fetch(process.argv[2], { signal: AbortSignal.timeout(300_000) });
const body = await response.text();
if (response.ok) process.stdout.write(body);
else {
  process.stderr.write(`${response.status} ${body}\n`);
  process.exitCode = 1;
}
