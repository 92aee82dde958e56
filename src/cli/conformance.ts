import {
  chainFacts,
  compared,
  conformanceCases,
  isWellFormed,
  type Ask,
  type CaseOutcome
} from '../rpc/conformance.ts'
import { BadUsage, type Invocation } from './command.ts'
import { tableOf } from './table.ts'

/** Milliseconds for one answer. Chosen: a node may read a block from disk for some seconds. */
const ANSWER_MS = 15_000
/** Times that a difference is looked at again: the two may have been asked in different slots. */
const LOOKS = 3

/** Compares an RPC URL with a node. Resolves with 1 if a client would notice a difference. */
export async function conformance({
  options,
  stdout,
  stderr
}: Pick<
  Invocation<{ readonly against?: string | undefined; readonly node?: string | undefined }>,
  'options' | 'stdout' | 'stderr'
>): Promise<number> {
  const { against, node } = options
  if (against === undefined || !URL.canParse(against)) throw new BadUsage('--against needs a URL')
  if (node !== undefined && !URL.canParse(node)) throw new BadUsage('--node needs a URL')
  const ours = asking(against)
  const theirs = node === undefined ? null : asking(node)
  const cases = conformanceCases(await chainFacts(theirs ?? ours))
  const rows = new Map<
    string,
    { method: string; asked: number; equal: number; by_design: number; different: number }
  >()
  let differences = 0
  for (const each of cases) {
    const row = rows.get(each.method) ?? {
      method: each.method,
      asked: 0,
      equal: 0,
      by_design: 0,
      different: 0
    }
    rows.set(each.method, row)
    row.asked++
    const body = `{"jsonrpc":"2.0","id":1,"method":"${each.method}","params":${each.params}}`
    for (let look = 1; ; look++) {
      const [mine, other] = await Promise.all([ours(body), theirs?.(body)])
      const outcome: CaseOutcome =
        other !== undefined
          ? compared(each, mine, other)
          : isWellFormed(mine)
            ? { kind: 'equal' }
            : { kind: 'different', ours: JSON.stringify(mine.body), theirs: 'a JSON-RPC response' }
      if (outcome.kind === 'different' && look < LOOKS) continue
      if (outcome.kind === 'equal') row.equal++
      else if (outcome.kind === 'by design') row.by_design++
      else {
        row.different++
        differences++
        stdout(`${each.method} ${each.params}\n  service: ${outcome.ours}\n  node:    ${outcome.theirs}`)
      }
      break
    }
  }
  for (const line of tableOf(['method', 'asked', 'equal', 'by_design', 'different'], [...rows.values()]))
    stdout(line)
  stderr(`millrace: ${cases.length} requests, ${differences} differences that a client would notice`)
  return differences === 0 ? 0 : 1
}

function asking(url: string): Ask {
  return async (body) => {
    const answer = await fetch(url, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body,
      signal: AbortSignal.timeout(ANSWER_MS)
    })
    const text = await answer.text()
    try {
      return { status: answer.status, body: JSON.parse(text) as unknown }
    } catch {
      return { status: answer.status, body: text }
    }
  }
}
