import { readdirSync, rmSync } from 'node:fs'
import { join, resolve } from 'node:path'

/**
 * Removes from an installed `node_modules` what the service does not load on this machine: sources of other tools, types,
 * source maps, and binaries of other platforms. The service is started from what is left by test/house/image.test.ts.
 */

/** Packages that are installed and never loaded, as patterns of their folder's name. */
const UNLOADED = [
  // Node 26 is in the image.
  /^node(-bin)?-(linux|darwin|win)-\w+$/,
  // The service uses the engine of litesvm beneath its wrapper, which alone needs the kit and the compiler.
  /^@solana-program$/,
  /^typescript$/,
  // Types of packages that are written in JavaScript.
  /^@types$/,
  // Part of the standalone build of the charts.
  /^fancy-canvas$/,
  // Links to tools.
  /^\.bin$/,
  // Binaries for Alpine, where Debian's C library is.
  /-musl$/
] as const
/** Packages of the scope `@solana` that web3.js needs; the others are the kit's. */
const LOADED_OF_SOLANA: readonly string[] = ['web3.js', 'buffer-layout']
/** Builds of web3.js for browsers and phones. */
const OTHER_BUILDS = /^index\.(browser|iife|native)\./
const UNREAD_FILES = /^(?!licen[cs]e).*\.(map|d\.[cm]?ts|tsbuildinfo|md|markdown)$/i
/** Files of the packages for browsers that the page loads; its list is in `src/page/routes/page-files.ts`. */
const LOADED_BY_PAGE =
  /^(package\.json|licen[cs]e.*|preact\.mjs|hooks\.mjs|.*\.standalone\.production\.mjs)$/i
const PLATFORM = `${process.platform}-${process.arch}`

const [folder] = process.argv.slice(2)
if (folder === undefined) {
  console.error('usage: node .config/prune-packages.ts NODE_MODULES')
  process.exitCode = 2
} else {
  pruneSolana(join(resolve(folder), '@solana'))
  for (const name of ['preact', 'lightweight-charts']) pruneForPage(join(resolve(folder), name))
  prune(resolve(folder))
}

function pruneSolana(scope: string): void {
  for (const name of readdirSync(scope))
    if (!LOADED_OF_SOLANA.includes(name)) rmSync(join(scope, name), { recursive: true })
  const builds = join(scope, 'web3.js', 'lib')
  for (const name of readdirSync(builds)) if (OTHER_BUILDS.test(name)) rmSync(join(builds, name))
  rmSync(join(scope, 'web3.js', 'src'), { recursive: true, force: true })
}

function pruneForPage(directory: string): void {
  for (const entry of readdirSync(directory, { withFileTypes: true })) {
    const path = join(directory, entry.name)
    if (entry.isDirectory()) pruneForPage(path)
    else if (!LOADED_BY_PAGE.test(entry.name)) rmSync(path)
  }
}

function prune(directory: string): void {
  for (const entry of readdirSync(directory, { withFileTypes: true })) {
    const path = join(directory, entry.name)
    if (!entry.isDirectory()) {
      if (UNREAD_FILES.test(entry.name)) rmSync(path)
    } else if (UNLOADED.some((pattern) => pattern.test(entry.name))) rmSync(path, { recursive: true })
    else if (entry.name === 'prebuilds') pruneBinaries(path)
    else prune(path)
  }
}

/** Leaves the binaries of this platform; musl's are those for Alpine. */
function pruneBinaries(directory: string): void {
  for (const platform of readdirSync(directory)) {
    const path = join(directory, platform)
    if (platform !== PLATFORM) rmSync(path, { recursive: true })
    else for (const name of readdirSync(path)) if (name.includes('musl')) rmSync(join(path, name))
  }
}
