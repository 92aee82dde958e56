import { readFile } from 'node:fs/promises'
import { createRequire } from 'node:module'
import { dirname, join } from 'node:path'
import { browserModules, SOURCES_ROOT } from '../../kernel/http/browser-modules.ts'
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
  'explorer.css': ['explorer.css', STYLE]
}

/** Folder of the explorer's own files, from the root. */
const ROOM = 'src/edge/browser'
const ENTRY = `${ROOM}/explorer.ts`

/**
 * The explorer's files, each read at its first request: together they take 2 MB. The list is fixed, so that no
 * request can read another file.
 */
export class ExplorerFiles {
  readonly #places: ReadonlyMap<string, { readonly path: string; readonly mediaType: string }>
  readonly #assets = new Map<string, Asset>()
  /** The explorer's modules by their names, without types; null until the first request for one. */
  #scripts: Promise<ReadonlyMap<string, Asset>> | null = null

  constructor() {
    const packaged = dirname(createRequire(import.meta.url).resolve('swagger-ui-dist/package.json'))
    const own = join(SOURCES_ROOT, ROOM)
    this.#places = new Map([...placesIn(packaged, PACKAGED), ...placesIn(own, OWN)])
  }

  /** Returns a file by its name below `/docs/`; null if no file has the name. */
  async find(name: string): Promise<Asset | null> {
    const known = this.#assets.get(name)
    if (known !== undefined) return known
    const place = this.#places.get(name)
    if (place === undefined) return name.endsWith('.js') ? this.#script(name) : null
    const asset = { mediaType: place.mediaType, rendering: new Rendering(await readFile(place.path)) }
    this.#assets.set(name, asset)
    return asset
  }

  async #script(name: string): Promise<Asset | null> {
    this.#scripts ??= readScripts().catch((error: unknown) => {
      this.#scripts = null
      throw error
    })
    return (await this.#scripts).get(name) ?? null
  }
}

async function readScripts(): Promise<ReadonlyMap<string, Asset>> {
  const modules = await browserModules([ENTRY])
  return new Map(
    modules.map(({ path, text }) => [
      path.slice(ROOM.length + 1).replace(/\.ts$/, '.js'),
      { mediaType: SCRIPT, rendering: new Rendering(text) }
    ])
  )
}

function placesIn(directory: string, files: Files) {
  return Object.entries(files).map(
    ([name, [file, mediaType]]) => [name, { path: join(directory, file), mediaType }] as const
  )
}
