import { keyPanel } from './key-panel.ts'
import { layout } from './layout.ts'
import { gatherExamples, operations, type ApiDocument } from './operations.ts'
import { parts } from './parts.ts'
import { stream, type StreamDocument } from './stream.ts'
import type { SwaggerOptions } from './swagger.ts'

declare const SwaggerUIBundle: (options: SwaggerOptions) => void

const dark = matchMedia('(prefers-color-scheme: dark)')
const setTheme = (): void => void document.documentElement.classList.toggle('dark-mode', dark.matches)
dark.addEventListener('change', setTheme)
setTheme()

/** Reads a document beside this page, below any prefix of a proxy. */
async function read<T>(path: string): Promise<T> {
  const response = await fetch(path)
  if (!response.ok) throw new Error(`${path} answered ${response.status}`)
  return (await response.json()) as T
}

try {
  const [api, streamApi] = await Promise.all([
    read<ApiDocument>('openapi.json'),
    read<StreamDocument>('asyncapi.json')
  ])
  SwaggerUIBundle({
    spec: gatherExamples(api),
    dom_id: '#explorer',
    plugins: [parts, keyPanel, operations, stream(streamApi), layout],
    layout: 'MillraceLayout',
    deepLinking: true,
    displayRequestDuration: true,
    defaultModelsExpandDepth: 0,
    tryItOutEnabled: true,
    // `session-key.ts` holds the key instead: the library would write it to localStorage.
    persistAuthorization: false,
    // The library's theme with the contrast that WCAG AA requires.
    syntaxHighlight: { theme: 'tomorrow-night' },
    validatorUrl: null
  })
} catch (error) {
  document.querySelector('#explorer')!.textContent =
    `The documentation cannot be shown: ${(error as Error).message}. Reload the page.`
}
