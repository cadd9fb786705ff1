// Bundles the page into dist/: index.html, app.js, app.css and licences.txt. The same sources and lock file give the same bytes.
//
//     node build.mjs [FOLDER]      FOLDER: where to write, by default dist
import { createHash } from "node:crypto";
import { mkdir, readFile, readdir, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { build } from "esbuild";

const here = dirname(fileURLToPath(import.meta.url));
const out = process.argv[2] ?? join(here, "dist");

const options = {
  absWorkingDir: here,
  bundle: true,
  minify: true,
  target: ["es2020"],
  charset: "utf8",
  legalComments: "none", // licences.txt has them
  tsconfigRaw: { compilerOptions: { useDefineForClassFields: false } }, // so that no file beside the sources matters
  write: false,
  logLevel: "warning",
};
const script = await build({
  ...options,
  entryPoints: ["src/main.tsx"],
  format: "esm",
  jsx: "automatic",
  jsxImportSource: "preact",
  metafile: true,
});
const style = await build({ ...options, entryPoints: ["src/style.css"] });

/** The names of the packages that the bundles hold a part of. */
function packagesIn(inputs) {
  const names = new Set();
  for (const path of inputs) {
    const match = path.match(/^node_modules\/((?:@[^/]+\/)?[^/]+)\//);
    if (match) names.add(match[1]);
  }
  return [...names].sort();
}

let licences = "The live page holds these packages of the npm registry.\n";
for (const name of packagesIn([...Object.keys(script.metafile.inputs), "node_modules/uplot/dist/uPlot.min.css"])) {
  const folder = join(here, "node_modules", name);
  const about = JSON.parse(await readFile(join(folder, "package.json"), "utf8"));
  const text = await Promise.any(
    ["LICENSE", "LICENSE.md", "LICENSE.txt", "license"].map((file) => readFile(join(folder, file), "utf8")),
  );
  licences += `\n${"-".repeat(100)}\n${name} ${about.version} (${about.license})\n\n${text.replaceAll("\r", "").trim()}\n`;
}

// What dist/ was made from; bundle.cmake computes the same.
const sha256 = (data) => createHash("sha256").update(data).digest("hex");
const sources = [...(await readdir(join(here, "src"))).map((name) => `src/${name}`), "build.mjs", "package-lock.json", "package.json"];
let lines = "";
for (const source of sources.sort()) lines += `${source} ${sha256(await readFile(join(here, source)))}\n`;

await mkdir(out, { recursive: true });
await writeFile(join(out, "sources.txt"), `${sha256(lines)}\n`);
await writeFile(join(out, "app.js"), script.outputFiles[0].contents);
await writeFile(join(out, "app.css"), style.outputFiles[0].contents);
await writeFile(join(out, "index.html"), await readFile(join(here, "src/index.html")));
await writeFile(join(out, "icon.svg"), await readFile(join(here, "src/icon.svg")));
await writeFile(join(out, "licences.txt"), licences);
