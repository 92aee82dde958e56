import { ERRORS, type ErrorCode } from '../errors.ts'
import { exampleProblem } from './problem-responses.ts'
import { problemPath } from './problem.ts'
import { PROBLEM_TEXTS } from '../../edge/routes/problem-texts.ts'

/** Returns the error of a code in a body or in the path of its page, in any letter case. */
export function problemNamed(name: string): ErrorCode | undefined {
  return BY_PATH.get(problemPath(name.toLowerCase()))
}

/** The first error of each code; its texts describe all errors with that code. */
const BY_PATH: ReadonlyMap<string, ErrorCode> = new Map(
  (Object.keys(ERRORS) as ErrorCode[])
    .toReversed()
    .map((error) => [problemPath(ERRORS[error].code), error] as const)
)

/** Returns a problem's page as JSON. */
export function problemBody(error: ErrorCode) {
  const { code, title, status, retryable } = ERRORS[error]
  const { meaning, remedy } = PROBLEM_TEXTS[error]
  return { code, title, status, meaning, remedy, retryable, example: exampleProblem(error) }
}

/** Returns a problem's page as HTML. */
export function problemPage(error: ErrorCode): string {
  const { code, title, status, meaning, remedy, retryable, example } = problemBody(error)
  return page(
    `${title} (${status})`,
    `<h1>${escaped(title)}</h1>
<p><code>${escaped(code)}</code>, status ${status}</p>
<dl>
<dt>What it means</dt><dd>${prose(meaning)}</dd>
<dt>What to do</dt><dd>${prose(remedy)}</dd>
<dt>Whether a retry can help</dt><dd>${retryable ? 'Yes, after <code>Retry-After</code>.' : 'No, not without a change.'}</dd>
<dt>An example</dt>
</dl>
<pre>${escaped(JSON.stringify(example, null, 2))}</pre>
<p><a href="/problems">All problems</a> · <a href="/docs">The API</a></p>`
  )
}

/** Returns the list of all problems as HTML. */
export function problemIndex(): string {
  const rows = Object.values(ERRORS)
    .toSorted((a, b) => a.status - b.status)
    .map(
      ({ code, title, status }) =>
        `<li>${status} <a href="${problemPath(code)}">${escaped(title)}</a> <code>${escaped(code)}</code></li>`
    )
  return page('Problems', `<h1>Problems</h1>\n<ul>\n${rows.join('\n')}\n</ul>`)
}

function page(title: string, body: string): string {
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>${escaped(title)}</title>
<link rel="stylesheet" href="/docs/page.css">
</head>
<body><main>
${body}
</main></body>
</html>
`
}

/** Escapes text and marks up its \`code\`. */
function prose(text: string): string {
  return escaped(text).replaceAll(/`([^`]*)`/g, '<code>$1</code>')
}

function escaped(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('"', '&quot;')
}
