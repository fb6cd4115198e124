// What a hostile script may try. Each attempt says what it got; none may get what lies outside the box.
// deno-lint-ignore-file
const SELF = new URL("./", import.meta.url);
const at = (name: string) => decodeURIComponent(new URL(name, SELF).pathname);
const PORT = Number("<PORT>");
const OTHER_SOCKET = "<SOCKET>";
const OUTSIDE = "<OUTSIDE>";
const D = Deno as any, G = globalThis as any, P = G.process;
const dataUrl = (code: string) => "data:application/typescript," + encodeURIComponent(code);
const blobUrl = (code: string) => URL.createObjectURL(new Blob([code], { type: "application/typescript" }));

const attempts: Record<string, () => unknown> = {
  // files
  read: () => Deno.readTextFile("/etc/passwd"),
  readSync: () => Deno.readTextFileSync(OUTSIDE),
  readUrl: () => Deno.readTextFile(new URL("file:///etc/passwd")),
  readRelative: () => Deno.readTextFile("../../../../../etc/passwd"),
  readThroughFence: () => Deno.readTextFile("./fence.ts/../entry.js"),
  readThroughClient: () => Deno.readTextFile(at("client.js") + "/../../../etc/passwd"),
  readEntry: () => Deno.readTextFile(at("entry.js")),
  readLock: () => Deno.readTextFile(at("lock")),
  readEnviron: () => Deno.readTextFile("/proc/self/environ"),
  readDescriptor: () => Deno.readTextFile("/proc/self/fd/0"),
  readDevice: () => Deno.readFile("/dev/zero"),
  list: () => [...Deno.readDirSync("/")].length,
  listBox: () => [...Deno.readDirSync(SELF)].length,
  stat: () => Deno.statSync("/etc/passwd").size,
  realPath: () => Deno.realPathSync("/etc/passwd"),
  open: () => Deno.openSync("/etc/passwd"),
  nodeRead: async () => (await import("node:fs")).readFileSync("/etc/passwd", "utf8"),
  nodeReadPromise: async () => await (await import("node:fs/promises")).readFile("/etc/passwd", "utf8"),
  nodeStream: async () => {
    const fs = await import("node:fs");
    return await new Promise((ok, no) => fs.createReadStream("/etc/passwd").on("data", ok).on("error", no));
  },
  builtin: () => P.getBuiltinModule("fs").readFileSync("/etc/passwd", "utf8"),
  binding: () => P.binding("fs").open("/etc/passwd", 0, 0o666),
  fetchFile: async () => await (await fetch("file:///etc/passwd")).text(),
  loadEnvFile: () => P.loadEnvFile(OUTSIDE),
  sqliteFile: async () => new (await import("node:sqlite")).DatabaseSync("/etc/passwd"),
  sqliteAttach: async () => new (await import("node:sqlite")).DatabaseSync(":memory:").exec(`ATTACH '${OUTSIDE}' AS x`),
  vm: async () => (await import("node:vm")).runInThisContext("process.getBuiltinModule('fs').readFileSync('/etc/passwd')"),
  functionConstructor: () => new Function("return Deno.readTextFileSync('/etc/passwd')")(),
  wasi: async () => new (await import("node:wasi")).WASI({ version: "preview1", preopens: { "/": "/" } } as any),
  // imports
  importJson: () => import("/etc/passwd", { with: { type: "json" } }),
  importText: () => import("file:///etc/passwd", { with: { type: "text" } } as any),
  importBytes: () => import("file:///etc/passwd", { with: { type: "bytes" } } as any),
  importFile: () => import("file:///etc/hostname"),
  importName: () => import(["file://", OUTSIDE].join("")),
  importData: () => import(dataUrl("export default Deno.readTextFileSync('/etc/passwd')")),
  importDataStatic: () => import(dataUrl("import x from 'file:///etc/passwd' with { type: 'text' }; export default x")),
  importDataJson: () => import(dataUrl("import x from 'file:///etc/passwd' with { type: 'json' }; export default x")),
  importDataTypes: () => import(dataUrl("/// <reference path='file:///etc/passwd' />\n// @ts-types='file:///etc/passwd'\nimport x from 'file:///etc/hostname'; export default x")),
  importBlobStatic: () => import(blobUrl("import x from 'file:///etc/passwd' with { type: 'text' }; export default x")),
  importHttps: () => import("https://deno.land/std@0.224.0/version.ts"),
  importHttpHere: () => import(`http://127.0.0.1:${PORT}/x.ts`),
  importNpm: () => import("npm:left-pad@1.3.0"),
  importJsr: () => import("jsr:@std/path@1.0.0"),
  importBare: () => import("left-pad"),
  require: async () => (await import("node:module")).createRequire(import.meta.url)("/etc/passwd"),
  requireJson: async () => (await import("node:module")).createRequire("file:///etc/x.js")("./hosts.json"),
  requireResolve: async () => (await import("node:module")).createRequire("file:///etc/x.js").resolve("./passwd"),
  requireNative: async () => (await import("node:module")).createRequire("file:///tmp/x.js")("./x.node"),
  moduleLoad: async () => (await import("node:module") as any).default._load("/etc/passwd"),
  // environment and machine
  env: () => JSON.stringify(Deno.env.toObject()),
  envOne: () => Deno.env.get("PATH"),
  envProcess: () => JSON.stringify(P.env),
  envProcessOne: () => P.env.HOME,
  hostname: () => Deno.hostname(),
  interfaces: () => Deno.networkInterfaces(),
  user: async () => (await import("node:os")).userInfo(),
  uid: () => Deno.uid(),
  memory: () => Deno.systemMemoryInfo(),
  release: () => Deno.osRelease(),
  // network
  tcp: () => Deno.connect({ hostname: "127.0.0.1", port: PORT }),
  tls: () => Deno.connectTls({ hostname: "127.0.0.1", port: PORT }),
  listen: () => Deno.listen({ port: 0 }),
  serve: () => Deno.serve({ port: 0 }, () => new Response("x")),
  fetch: () => fetch(`http://127.0.0.1:${PORT}/`),
  webSocket: () =>
    new Promise((ok, no) => {
      const socket = new WebSocket(`ws://127.0.0.1:${PORT}/`);
      socket.onopen = ok;
      socket.onerror = (event: any) => no(event.message);
    }),
  eventSource: () =>
    new Promise((ok, no) => {
      const stream = new EventSource(`http://127.0.0.1:${PORT}/`);
      stream.onopen = ok;
      stream.onerror = (event: any) => { stream.close(); no(event.message ?? "closed"); };
    }),
  dns: () => Deno.resolveDns("example.com", "A"),
  nodeDns: async () => await (await import("node:dns/promises")).lookup("example.com"),
  nodeTcp: async () => {
    const net = await import("node:net");
    return await new Promise((ok, no) => net.connect(PORT, "127.0.0.1").on("connect", ok).on("error", no));
  },
  nodeUnix: async () => {
    const net = await import("node:net");
    return await new Promise((ok, no) => net.connect(OTHER_SOCKET).on("connect", ok).on("error", no));
  },
  nodeHttp: async () => {
    const http = await import("node:http");
    return await new Promise((ok, no) => http.get(`http://127.0.0.1:${PORT}/`, ok).on("error", no));
  },
  unixOther: () => Deno.connect({ transport: "unix", path: OTHER_SOCKET }),
  unixOwn: () => Deno.connect({ transport: "unix", path: at("socket") }),
  unixListen: () => Deno.listen({ transport: "unix", path: "/tmp/aop-attack.sock" }),
  unixListenOwn: () => Deno.listen({ transport: "unix", path: at("socket") }),
  unixProxy: async () => {
    const client = D.createHttpClient({ proxy: { transport: "unix", path: OTHER_SOCKET } });
    return await fetch("http://localhost/", { client } as any);
  },
  quic: () => new D.QuicEndpoint(),
  inspector: async () => (await import("node:inspector")).open(0, "127.0.0.1"),
  // processes and native code
  run: () => new Deno.Command("/bin/true").output(),
  runSelf: () => new Deno.Command(Deno.execPath(), { args: ["eval", "-A", "1"] }).outputSync(),
  nodeExec: async () => (await import("node:child_process")).execFileSync("/bin/true"),
  nodeExecEnv: async () => (await import("node:child_process")).spawnSync("/bin/true", { env: {} }).error ?? "ran",
  nodeFork: async () => {
    const { fork } = await import("node:child_process");
    return await new Promise((ok, no) => fork(at("fence.ts"), { env: {} } as any).on("spawn", ok).on("error", no));
  },
  spawnBinding: () => P.binding("spawn_sync").spawn({ file: "/bin/true", args: ["true"] }),
  ffi: () => Deno.dlopen("/lib/x86_64-linux-gnu/libc.so.6", {}),
  ffiPointer: () => D.UnsafePointer.create(1n),
  nodeDlopen: () => P.dlopen({ exports: {} }, "/tmp/x.node"),
  sqliteExtension: async () => {
    const base = new (await import("node:sqlite")).DatabaseSync(":memory:", { allowExtension: true } as any) as any;
    return base.loadExtension("/tmp/x.so");
  },
  killParent: () => Deno.kill(P.ppid, "SIGCONT"),
  killFirst: () => P.kill(1, 0),
  setuid: () => P.setuid(0),
  // writing
  write: () => Deno.writeTextFile(OUTSIDE, "overwritten"),
  writeTmp: () => Deno.writeTextFile("/tmp/aop-attack", "x"),
  writeBox: () => Deno.writeTextFile(at("new.txt"), "x"),
  writeFence: () => Deno.writeTextFile(at("fence.ts"), "x"),
  writeClient: () => Deno.writeTextFile(at("client.js"), "x"),
  writeSocketPath: () => Deno.writeTextFile(at("socket"), "x"),
  mkdir: () => Deno.mkdir(at("folder")),
  remove: () => Deno.remove(at("fence.ts")),
  rename: () => Deno.rename(at("fence.ts"), at("other.ts")),
  link: () => Deno.link("/etc/passwd", at("x")),
  symlink: () => Deno.symlink("/etc/passwd", at("x")),
  chmod: () => Deno.chmod(at("fence.ts"), 0o777),
  truncate: () => Deno.truncate(at("fence.ts")),
  makeTemp: () => Deno.makeTempFile(),
  nodeWrite: async () => (await import("node:fs")).writeFileSync("/tmp/aop-attack", "x"),
  heapSnapshot: async () => (await import("node:v8")).writeHeapSnapshot("/tmp/aop-attack.heap"),
  caches: async () => await (await caches.open("x")).put("http://a/", new Response("x")),
  localStorage: () => localStorage.setItem("a", "b"),
  keyValues: () => D.openKv("/tmp/aop-attack.kv"),
  chdir: () => Deno.chdir("/"),
  // asking for more
  request: async () => {
    const states = [];
    for (const name of ["read", "write", "net", "env", "run", "sys", "ffi", "import"]) {
      states.push((await D.permissions.request({ name })).state);
    }
    if (states.includes("granted")) return states.join();
    throw new Error(states.join());
  },
  signal: () => { Deno.addSignalListener("SIGKILL", () => {}); },
  // reaching past the client
  clipboard: () => D[D.internal].core.ops.op_desktop_read_clipboard_text(),
  wasiFile: async () => new (await import("node:wasi")).WASI({ version: "preview1", preopens: { "/": at("fence.ts") } } as any),
};

const outcomes: Record<string, [boolean, string]> = {};
for (const [name, attempt] of Object.entries(attempts)) {
  let timer: number | undefined;
  try {
    const late = new Promise((_, no) => timer = setTimeout(() => no(new Error("nothing happened")), 2000));
    const got = await Promise.race([(async () => await attempt())(), late]) as any;
    outcomes[name] = [true, typeof got === "string" ? got.slice(0, 200) : Deno.inspect(got?.default ?? got).slice(0, 200)];
  } catch (error) {
    outcomes[name] = [false, String(error).slice(0, 200)];
  } finally {
    clearTimeout(timer);
  }
}
console.log(JSON.stringify(outcomes));
Deno.exit(0);
