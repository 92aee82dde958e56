import { readFile } from 'node:fs/promises'
import { createRequire } from 'node:module'
import { dirname, join } from 'node:path'
import { Rendering } from './rendering.ts'

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

/** Reads the explorer's files, by name below `/docs/`. The list is fixed, so that no request can read another file. */
export async function explorerAssets(): Promise<ReadonlyMap<string, Asset>> {
  const packaged = dirname(createRequire(import.meta.url).resolve('swagger-ui-dist/package.json'))
  const own = join(import.meta.dirname, 'explorer')
  return new Map([...(await read(packaged, PACKAGED)), ...(await read(own, OWN))])
}

function read(directory: string, files: Files): Promise<(readonly [name: string, asset: Asset])[]> {
  return Promise.all(
    Object.entries(files).map(async ([name, [file, mediaType]]) => {
      const rendering = new Rendering(await readFile(join(directory, file)))
      return [name, { mediaType, rendering }] as const
    })
  )
}
