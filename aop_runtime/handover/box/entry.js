// The main module. The script is loaded by it at run time, under a name that is made here: what a main module imports
// by itself is read before any permission is asked for.

import "./client.js";

const here = new URL("./", import.meta.url);
const socket = decodeURIComponent(new URL("socket", here).pathname);

for (const right of [{ name: "net" }, { name: "write" }, { name: "read", path: socket }]) {
  Deno.permissions.revokeSync(right);
}
for (const right of [
  { name: "net", host: `unix:${socket}` }, { name: "write", path: socket }, { name: "read", path: socket },
  { name: "read" }, { name: "write" }, { name: "net" }, { name: "env" }, { name: "sys" }, { name: "run" },
  { name: "ffi" }, { name: "import" },
]) {
  if (Deno.permissions.querySync(right).state === "granted") throw new Error(`the box is open: ${right.name}`);
}

await import(new URL("fence.ts", here).href);
