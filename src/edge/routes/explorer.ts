import { readFile } from 'node:fs/promises'
import { createRequire } from 'node:module'
import { dirname, join } from 'node:path'
import { Rendering } from '../../kernel/http/rendering.ts'

/** A static file of the explorer. */
export interface Asset {
  readonly mediaType: string
  readonly rendering: Rendering
}

const SCRIPT = 'text/javascript; charset=utf-8'
const STYLE = 'text/css; charset=utf-8'
const HTML = 'text/html; charset=utf-8'

/** Files and media types by name below `/docs/`. The page itself has the empty name. */
type Files = Readonly<Record<string, readonly [file: string, mediaType: string]>>

const PACKAGED: Files = {
  'swagger-ui.css': ['swagger-ui.css', STYLE],
  'swagger-ui-bundle.js': ['swagger-ui-bundle.js', SCRIPT],
  'favicon-32x32.png': ['favicon-32x32.png', 'image/png']
}

const OWN: Files = {
  '': ['page.html', HTML],
  'page.css': ['page.css', STYLE],
  'explorer.css': ['explorer.css', STYLE],
  'explorer.js': ['explorer.js', SCRIPT],
  'key-panel.js': ['key-panel.js', SCRIPT],
  'layout.js': ['layout.js', SCRIPT],
  'operations.js': ['operations.js', SCRIPT],
  'parts.js': ['parts.js', SCRIPT],
  'session-key.js': ['session-key.js', SCRIPT],
  'stream.js': ['stream.js', SCRIPT],
  'stream-log.js': ['stream-log.js', SCRIPT]
}

/**
 * The explorer's files, each read at its first request: together they take 2 MB. The list is fixed, so that no
 * request can read another file.
 */
export class ExplorerFiles {
  readonly #places: ReadonlyMap<string, { readonly path: string; readonly mediaType: string }>
  readonly #assets = new Map<string, Asset>()

  constructor() {
    const packaged = dirname(createRequire(import.meta.url).resolve('swagger-ui-dist/package.json'))
    const own = join(import.meta.dirname, 'explorer')
    this.#places = new Map([...placesIn(packaged, PACKAGED), ...placesIn(own, OWN)])
  }

  /** Returns a file by its name below `/docs/`; null if no file has the name. */
  async find(name: string): Promise<Asset | null> {
    const known = this.#assets.get(name)
    if (known !== undefined) return known
    const place = this.#places.get(name)
    if (place === undefined) return null
    const asset = { mediaType: place.mediaType, rendering: new Rendering(await readFile(place.path)) }
    this.#assets.set(name, asset)
    return asset
  }
}

function placesIn(directory: string, files: Files) {
  return Object.entries(files).map(
    ([name, [file, mediaType]]) => [name, { path: join(directory, file), mediaType }] as const
  )
}
