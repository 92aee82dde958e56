import { sleep, systemPorts, type Ports } from '../ports.ts'
import { patientAsk, type OnWait } from '../rpc/patient-ask.ts'
import {
  chainFacts,
  conformanceCases,
  subscriptionCases,
  Unanswered,
  type Ask,
  type ChainFacts
} from '../rpc/conformance-cases.ts'
import { compareEndpoints } from '../rpc/conformance.ts'
import { BadUsage, type Invocation } from './command.ts'
import { isSocketUrl, openRpcEndpoint } from './rpc-endpoint.ts'
import { tableOf } from './table.ts'

const PROGRESS_MS = 1_000
/** Milliseconds before a difference is checked again. Chosen: one slot, after which both have the same blocks. */
const LOOK_MS = 400
const FACTS_RETRY_MS = 2_000
/** Attempts to read the facts. Chosen: a service whose node is still starting takes some seconds. */
const FACTS_ATTEMPTS = 10

type ConformanceInvocation = Pick<
  Invocation<{ readonly against?: string | undefined; readonly node?: string | undefined }>,
  'options' | 'stdout' | 'stderr' | 'interrupted'
>

/**
 * Compares an RPC URL with a node, and prints the progress each second. Resolves with 1 if a client would notice a
 * difference, or if interrupted. Requests beyond the quota of a key are repeated when it allows them. `known` are
 * facts of the chain that replace those read from it.
 */
export async function conformance(
  { options, stdout, stderr, interrupted }: ConformanceInvocation,
  known: Partial<ChainFacts> = {},
  { clock }: Pick<Ports, 'clock'> = systemPorts
): Promise<number> {
  const { against, node } = options
  if (node !== undefined && isSocketUrl(node) && !isSocketUrl(against ?? ''))
    throw new BadUsage("--node is a socket, so --against must be the service's socket")
  const say = (line: string): void => stderr(`millrace: ${line}`)
  const waitOf =
    (flag: string): OnWait =>
    (seconds) =>
      say(`${flag} has refused a request because of its rate limit; retrying in ${seconds} s`)
  const ours = await openRpcEndpoint('--against', against)
  const theirs = node === undefined ? null : await openRpcEndpoint('--node', node)
  const askOurs = patientAsk(ours.ask, clock, interrupted, waitOf('--against'))
  const askTheirs = theirs && patientAsk(theirs.ask, clock, interrupted, waitOf('--node'))
  try {
    // A node's socket has subscriptions only, so that facts come from ours.
    const askFacts = askTheirs === null || theirs?.isSocket === true ? askOurs : askTheirs
    const again = async (why: string): Promise<void> => {
      say(`${why}; retrying in ${FACTS_RETRY_MS / 1_000} s`)
      await sleep(clock, FACTS_RETRY_MS, interrupted)
      interrupted.throwIfAborted()
    }
    const facts = { ...(await factsOf(askFacts, again)), ...known }
    const isOfSockets = theirs?.isSocket ?? ours.isSocket
    const cases = [
      ...(theirs?.isSocket === true ? [] : conformanceCases(facts)),
      ...(isOfSockets && ours.isSocket ? subscriptionCases(facts) : [])
    ]
    let toldMs = clock.now()
    const rows = await compareEndpoints(cases, askOurs, askTheirs, {
      differs: (each, mine, other) =>
        stdout(`${each.method} ${each.params}\n  service: ${mine}\n  node:    ${other}`),
      asked: (done, differences) => {
        interrupted.throwIfAborted()
        if (clock.now() - toldMs < PROGRESS_MS) return
        toldMs = clock.now()
        say(`${done} of ${cases.length} requests, ${differences} differences`)
      },
      beforeLook: () => sleep(clock, LOOK_MS, interrupted)
    })
    for (const line of tableOf(
      ['method', 'asked', 'equal', 'by_design', 'different'],
      rows.map((row) => ({ ...row }))
    ))
      stdout(line)
    const differences = rows.reduce((sum, { different }) => sum + different, 0)
    say(`${cases.length} requests, ${differences} differences that a client would notice`)
    return differences === 0 ? 0 : 1
  } catch (error) {
    if (interrupted.aborted) say('interrupted')
    else if (error instanceof Unanswered) say(error.message)
    else throw error
    return 1
  } finally {
    ours.end()
    theirs?.end()
  }
}

/** Reads the facts. Tries again if the endpoint reports that it may answer later. */
async function factsOf(ask: Ask, again: (why: string) => Promise<void>): Promise<ChainFacts> {
  for (let attempt = 1; ; attempt++) {
    try {
      return await chainFacts(ask)
    } catch (error) {
      if (!(error instanceof Unanswered && error.isRetryable) || attempt === FACTS_ATTEMPTS) throw error
      await again(error.message)
    }
  }
}
