/**
 * Measures GET /v1/search over 130,000 names, the number that a gateway with the default memory holds. The comparison is a
 * bare Fastify route that sends the answer's bytes and header fields; each has its own process. Measured are one text that
 * is requested repeatedly, and a thousand texts, whose answers are mostly recomputed. Also measured: the time of single
 * searches in the index, and its memory. Takes about two minutes:
 *
 *     node loadtest/search.ts [--small] [--help]
 */
import { mkdtempSync, rmSync } from 'node:fs'
import { loadavg, tmpdir } from 'node:os'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { giveServersCore, leaveServersACore } from './cores.ts'
import { startMeasured } from './measured-process.ts'
import { writeResult } from './result.ts'
import { runAgainstBare } from './rounds.ts'
import { namesOf } from './search-names.ts'

const HELP = `Usage: node loadtest/search.ts [--small]

  --small   10,000 names and one second a round, printed and not saved
`
const TOKENS = 130_000
const TEXTS = 1_000
/** Minimum share of the bare route's requests a second, for a text that is requested again. */
const BAR = 0.5

interface IndexFigures {
  readonly fillMs: number
  readonly held: number
  readonly estimated: number
  readonly times: readonly { readonly text: string; readonly hits: number; readonly micros: number }[]
}

const { values } = parseArgs({ options: { small: { type: 'boolean' }, help: { type: 'boolean' } } })
if (values.help === true) process.stdout.write(HELP)
else await measureAll(values.small === true)

async function measureAll(isSmall: boolean): Promise<void> {
  const directory = mkdtempSync(join(tmpdir(), 'millrace-search-'))
  const tokens = isSmall ? 10_000 : TOKENS
  const seconds = isSmall ? 1 : 5
  const hasCore = leaveServersACore()
  const service = await startMeasured('search-service.ts', [directory, String(tokens)], {
    nodeArgs: ['--expose-gc']
  })
  if (hasCore) giveServersCore(service.pid)
  try {
    const index = (await service.ask('index')) as IndexFigures
    const paths = Array.from({ length: TEXTS }, (_, n) => {
      const { symbol, name } = namesOf(n * 61)
      return `/v1/search?q=${encodeURIComponent(n % 2 === 0 ? symbol.slice(0, 2 + (n % 5)) : name.slice(0, 4 + (n % 9)))}`
    })
    const run = (requested: readonly string[]) =>
      runAgainstBare(service, { paths: requested, seconds, justStarted: false })
    const oneText = await run(['/v1/search?q=dog'])
    const manyTexts = await run([...new Set(paths)])
    const reached =
      oneText.ratio >= BAR &&
      [oneText, manyTexts].every(({ statuses }) => Object.keys(statuses).join() === '200')
    const figures = {
      reached,
      bar: BAR,
      load_of_the_machine: loadavg()[0],
      tokens,
      fill_ms: index.fillMs,
      bytes_a_token: { held: index.held / tokens, estimated: index.estimated / tokens },
      searches_us: index.times,
      one_text: oneText,
      many_texts: { texts: new Set(paths).size, ...manyTexts }
    }
    if (isSmall) process.stdout.write(`${JSON.stringify(figures, null, 2)}\n`)
    else await writeResult('search', figures)
    if (!reached) process.exitCode = 1
  } finally {
    await service.end()
    rmSync(directory, { recursive: true })
  }
}
