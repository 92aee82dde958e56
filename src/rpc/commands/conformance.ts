import { sleep, systemPorts, type Ports } from '../../ports.ts'
import { patientAsk, type OnWait } from '../patient-ask.ts'
import {
  chainFacts,
  conformanceCases,
  subscriptionCases,
  Unanswered,
  type Ask,
  type ChainFacts
} from '../conformance-cases.ts'
import { AnswerDeadline } from '../answer-deadline.ts'
import { notChecked, type ConformanceCheck } from '../conformance-check.ts'
import { compareEndpoints } from '../conformance.ts'
import { httpUrlOf } from '../derived-urls.ts'
import { programChecks } from '../program-rows.ts'
import { bodyChecks } from './body-checks.ts'
import { BadUsage, type Invocation } from '../../kernel/cli/command.ts'
import { derivedChecks } from './derived-checks.ts'
import { originChecks } from './origin-checks.ts'
import { isSocketUrl, openRpcEndpoint } from './rpc-endpoint.ts'
import { patientSend, type Send } from './rpc-probe.ts'
import { tableOf } from '../../kernel/cli/table.ts'

const PROGRESS_MS = 1_000
/** Milliseconds before a difference is checked again: one slot, after which both have equal blocks. */
const RECHECK_PAUSE_MS = 400
/** Milliseconds before one of two answers at different slots is requested again. A quarter of a slot. */
const MEETING_MS = 100
/** Why a fault of a node is not checked. */
const NOT_FROM_OUTSIDE =
  'no request makes a node fail; run this with a faulty node (-32603, silent) beside a good one in MILLRACE_RPC_URL'
const FACTS_RETRY_MS = 2_000
/** Attempts to read the facts. A service whose node is still starting takes several seconds. */
const FACTS_ATTEMPTS = 10

interface ConformanceOptions {
  readonly against?: string | undefined
  readonly node?: string | undefined
  readonly origin?: string | undefined
  readonly program?: readonly string[] | undefined
  readonly 'deadline-ms'?: string | undefined
}

type ConformanceInvocation = Pick<
  Invocation<ConformanceOptions>,
  'options' | 'stdout' | 'stderr' | 'interrupted'
>

/**
 * Compares an RPC URL with a node, and prints the progress each second. Then checks the URLs that clients derive from it,
 * requests of pages, malformed bodies and the accounts of programs, and lists what was checked and what was not. Resolves
 * with 1 if a client would notice a difference, if a check fails, or if interrupted. Requests beyond the quota of a key are
 * repeated when the quota allows them. `known` has facts of the chain that replace those read from it.
 */
export async function conformance(
  { options, stdout, stderr, interrupted }: ConformanceInvocation,
  known: Partial<ChainFacts> = {},
  { clock }: Pick<Ports, 'clock'> = systemPorts
): Promise<number> {
  const { against, node } = options
  const deadline = new AnswerDeadline(deadlineOf(options['deadline-ms']), clock)
  if (node !== undefined && isSocketUrl(node) && !isSocketUrl(against ?? ''))
    throw new BadUsage("--node is a socket, so --against must be the service's socket")
  const say = (line: string): void => stderr(`millrace: ${line}`)
  const waitOf =
    (flag: string): OnWait =>
    (seconds) =>
      say(`${flag} has refused a request because of its rate limit; retrying in ${seconds} s`)
  const ours = await openRpcEndpoint('--against', against)
  const theirs = node === undefined ? null : await openRpcEndpoint('--node', node)
  const askOurs = patientAsk(deadline.timed(ours.ask), clock, interrupted, waitOf('--against'))
  const askTheirs = theirs && patientAsk(theirs.ask, clock, interrupted, waitOf('--node'))
  try {
    // A node's socket has subscriptions only, so the facts come from the service.
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
      beforeLook: () => sleep(clock, RECHECK_PAUSE_MS, interrupted)
    })
    for (const line of tableOf(
      ['method', 'asked', 'equal', 'by_design', 'different'],
      rows.map((row) => ({ ...row }))
    ))
      stdout(line)
    const differences = rows.reduce((sum, { different }) => sum + different, 0)
    say(`${cases.length} requests, ${differences} differences that a client would notice`)
    const send = patientSend(clock, interrupted, waitOf('--against'))
    const checks = [
      ...(await allChecks(
        options,
        send,
        async (url) => {
          const { ask } = await openRpcEndpoint('--against', url)
          return patientAsk(deadline.timed(ask), clock, interrupted, waitOf('--against'))
        },
        theirs?.isSocket === true ? null : askTheirs,
        () => sleep(clock, MEETING_MS, interrupted)
      )),
      deadline.check(),
      notChecked('failover from a node at fault', NOT_FROM_OUTSIDE)
    ]
    interrupted.throwIfAborted()
    for (const line of tableOf(
      ['check', 'outcome', 'detail'],
      checks.map((check) => ({ ...check }))
    ))
      stdout(line)
    const countOf = (outcome: ConformanceCheck['outcome']): number =>
      checks.filter((check) => check.outcome === outcome).length
    say(`${countOf('passed')} checks passed, ${countOf('failed')} failed, ${countOf('not checked')} not made`)
    return differences === 0 && countOf('failed') === 0 ? 0 : 1
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

/** Makes the checks of the RPC URL, one after another. */
async function allChecks(
  { against, origin, program: programs = [] }: ConformanceOptions,
  send: Send,
  askOver: (url: string) => Promise<Ask>,
  askTheirs: Ask | null,
  pause: () => Promise<void>
): Promise<readonly ConformanceCheck[]> {
  const url = against!
  const checks = [
    ...(await derivedChecks(url, send)),
    ...(await originChecks(url, origin, send)),
    ...(await bodyChecks(url, send))
  ]
  if (programs.length === 0)
    checks.push(notChecked('program accounts', 'name a program that the service mirrors (--program)'))
  const ask = await askOver(httpUrlOf(url))
  for (const program of programs) checks.push(...(await programChecks(program, ask, askTheirs, pause)))
  return checks
}

function deadlineOf(text: string | undefined): number | null {
  if (text === undefined) return null
  const ms = Number(text)
  if (!Number.isSafeInteger(ms) || ms < 1) throw new BadUsage('--deadline-ms needs a number of milliseconds')
  return ms
}

/** Reads the facts. Retries if the endpoint reports a temporary error. */
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
