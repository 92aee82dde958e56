import { readFile } from 'node:fs/promises'
import { createRequire } from 'node:module'
import { dirname, join } from 'node:path'
import { Rendering } from './rendering.ts'

/** A file that is served as it is. */
export interface Asset {
  readonly mediaType: string
  readonly rendering: Rendering
}

const SCRIPT = 'text/javascript; charset=utf-8'
const STYLE = 'text/css; charset=utf-8'
const HTML = 'text/html; charset=utf-8'

/** What is taken of the package of the explorer. */
const PACKAGED = {
  'swagger-ui.css': STYLE,
  'swagger-ui-bundle.js': SCRIPT,
  'favicon-32x32.png': 'image/png'
} as const

/** The page at `/docs`. Its scripts are files of ours, so that the policy can forbid every other one. */
const PAGE = `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>Millrace API</title>
<link rel="icon" type="image/png" href="/docs/favicon-32x32.png">
<link rel="stylesheet" href="/docs/swagger-ui.css">
<link rel="stylesheet" href="/docs/page.css">
</head>
<body>
<div id="explorer"></div>
<script src="/docs/swagger-ui-bundle.js"></script>
<script src="/docs/explorer.js"></script>
</body>
</html>
`

const START = `SwaggerUIBundle({
  url: '/openapi.json',
  dom_id: '#explorer',
  deepLinking: true,
  displayRequestDuration: true,
  filter: true,
  tryItOutEnabled: true,
  persistAuthorization: false,
  validatorUrl: null
})
`

const PAGE_STYLE = `body { margin: 0 auto; max-width: 1460px; font: 16px/1.5 system-ui, sans-serif; color: #1b1f24 }
main { max-width: 46rem; margin: 3rem auto; padding: 0 1rem }
code, pre { font-family: ui-monospace, monospace }
pre { padding: 1rem; overflow: auto; background: #f3f4f6; border-radius: 6px }
dt { font-weight: 600; margin-top: 1rem }
dd { margin: 0 }
`

const OWN = {
  '': [HTML, PAGE],
  'explorer.js': [SCRIPT, START],
  'page.css': [STYLE, PAGE_STYLE]
} as const

/**
 * The files of the explorer by their name below `/docs/`, its page by the empty one. They are named here one by one, so
 * a request finds a file of this list or none at all.
 */
export async function explorerAssets(): Promise<ReadonlyMap<string, Asset>> {
  const directory = dirname(createRequire(import.meta.url).resolve('swagger-ui-dist/package.json'))
  const packaged = Object.entries(PACKAGED).map(async ([name, mediaType]) => {
    const rendering = new Rendering(await readFile(join(directory, name)))
    return [name, { mediaType, rendering }] as const
  })
  const own = Object.entries(OWN).map(([name, [mediaType, text]]) => {
    return [name, { mediaType, rendering: new Rendering(text) }] as const
  })
  return new Map<string, Asset>([...own, ...(await Promise.all(packaged))])
}
