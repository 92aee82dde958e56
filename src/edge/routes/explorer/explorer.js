import { keyPanel } from './key-panel.js'
import { layout } from './layout.js'
import { gatherExamples, operations } from './operations.js'
import { parts } from './parts.js'
import { stream } from './stream.js'

const dark = matchMedia('(prefers-color-scheme: dark)')
const setTheme = () => document.documentElement.classList.toggle('dark-mode', dark.matches)
dark.addEventListener('change', setTheme)
setTheme()

async function read(path) {
  const response = await fetch(path)
  if (!response.ok) throw new Error(`${path} answered ${response.status}`)
  return response.json()
}

try {
  const [api, streamApi] = await Promise.all([read('/openapi.json'), read('/asyncapi.json')])
  SwaggerUIBundle({
    spec: gatherExamples(api),
    dom_id: '#explorer',
    plugins: [parts, keyPanel, operations, stream(streamApi), layout],
    layout: 'MillraceLayout',
    deepLinking: true,
    displayRequestDuration: true,
    defaultModelsExpandDepth: 0,
    tryItOutEnabled: true,
    // `session-key.js` holds the key instead: the library would write it to localStorage.
    persistAuthorization: false,
    // The library's theme with the contrast that WCAG AA requires.
    syntaxHighlight: { theme: 'tomorrow-night' },
    validatorUrl: null
  })
} catch (error) {
  document.querySelector('#explorer').textContent =
    `The documentation cannot be shown: ${error.message}. Reload the page.`
}
