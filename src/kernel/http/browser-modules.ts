import { hash } from 'node:crypto'
import { resolve } from 'node:path'
import { promisify } from 'node:util'
import { Worker } from 'node:worker_threads'
import { brotliCompress, constants, gzip } from 'node:zlib'

const toGzip = promisify(gzip)
const toBrotli = promisify(brotliCompress)

/** Folder that paths of modules begin at. */
export const SOURCES_ROOT = resolve(import.meta.dirname, '../../..')

export interface ModuleRequest {
  readonly root: string
  /** Paths from the root of the modules that a page loads. */
  readonly entries: readonly string[]
  /** Files of packages by the name that modules import. */
  readonly packages: Readonly<Record<string, string>>
}

/** A module as a browser loads it: JavaScript, with relative imports. */
export interface BrowserModule {
  /** Path from the root, as of its source; `packages/NAME.js` for a package. */
  readonly path: string
  readonly text: string
  /** Paths of the modules that it imports at once, and when it runs `import()`. */
  readonly imports: readonly string[]
  readonly lazyImports: readonly string[]
}

/** Returns modules with all that they import, read in a thread of their own, without types. */
export function browserModules(
  entries: readonly string[],
  packages: ModuleRequest['packages'] = {}
): Promise<readonly BrowserModule[]> {
  const workerData: ModuleRequest = { root: SOURCES_ROOT, entries, packages }
  const worker = new Worker(new URL('./module-worker.ts', import.meta.url), {
    workerData,
    // Flags of tests and loaders concern the main thread.
    execArgv: ['--disable-warning=ExperimentalWarning']
  })
  return new Promise((settle, reject) => {
    worker.once('message', settle)
    worker.once('error', reject)
    worker.once('exit', (code) => reject(new Error(`the thread that reads modules ended with ${code}`)))
  })
}

/** A static file with its compressed forms; each form is null if it is not smaller. */
export interface PackedFile {
  readonly mediaType: string
  readonly plain: Buffer
  readonly gzip: Buffer | null
  readonly brotli: Buffer | null
  /** Strong entity tag of the plain form, without quotes. */
  readonly tag: string
}

/** Smallest file in bytes that is compressed; a smaller one fits one packet. */
const PACKED_BYTES_MIN = 1400
/** Brotli level: 11 saves a twelfth of the bytes for twelve times the time. */
const BROTLI_LEVEL = 9

/** Compresses a file off the event loop. */
export async function packedFile(mediaType: string, content: string | Buffer): Promise<PackedFile> {
  const plain = Buffer.from(content)
  const tag = hash('sha1', plain, 'base64url')
  if (plain.length < PACKED_BYTES_MIN) return { mediaType, plain, gzip: null, brotli: null, tag }
  const [zipped, brotli] = await Promise.all([
    toGzip(plain, { level: 9 }),
    toBrotli(plain, {
      params: {
        [constants.BROTLI_PARAM_QUALITY]: BROTLI_LEVEL,
        [constants.BROTLI_PARAM_SIZE_HINT]: plain.length
      }
    })
  ])
  const smaller = (packed: Buffer): Buffer | null => (packed.length < plain.length ? packed : null)
  return { mediaType, plain, gzip: smaller(zipped), brotli: smaller(brotli), tag }
}
