import { PATIENT, until as untilFact } from '../until.ts'
import type { ServiceProcess } from './service-process.ts'

const WSOL = 'So11111111111111111111111111111111111111112'

/** Polls a service until a condition holds. */
export const until = <T>(ask: () => Promise<T | false | null>, what: string) => untilFact(ask, what, PATIENT)

/** Returns the newest slot that a process serves; 0 before the first. */
export async function slotOf(service: ServiceProcess): Promise<number> {
  return Number((await service.get('/v1/health', null)).body.slot ?? 0)
}

/** Returns the value of a metric without labels, or of its first series. */
export async function metricOf(service: ServiceProcess, name: string): Promise<number> {
  const { body } = await service.get('/metrics', null)
  const line = String(body.text)
    .split('\n')
    .find((each) => each.startsWith(`${name} `) || each.startsWith(`${name}{`))
  return Number(line?.split(' ').at(-1))
}

/** Returns whether a process is the leader. */
export const leads = async (service: ServiceProcess): Promise<boolean> =>
  (await metricOf(service, 'millrace_lease_held{lease="ingest"}')) === 1

/** Returns every page of every endpoint as text. */
export async function answersOf(service: ServiceProcess): Promise<string[]> {
  const texts: string[] = []
  const lists = ['/v1/launches?limit=2', `/v1/tokens/${WSOL}/trades?limit=25`]
  for (const first of lists) {
    for (let path: string | null = first; path !== null;) {
      const { status, body } = await service.get(path)
      texts.push(`${path} ${status} ${JSON.stringify(body)}`)
      path = typeof body.nextCursor === 'string' ? `${first}&after=${body.nextCursor}` : null
    }
  }
  const others = ['/v1/stats', '/v1/trending', `/v1/tokens/${WSOL}/price`, `/v1/tokens/${WSOL}/candles`]
  for (const path of others) {
    const { status, body } = await service.get(path)
    texts.push(`${path} ${status} ${JSON.stringify(body)}`)
  }
  return texts
}

/** Returns the error lines that a process has logged. */
export const faultsOf = ({ stderr }: ServiceProcess): string[] =>
  stderr.filter((line) => /"level":[56]0/.test(line))

/**
 * Returns the faults of a process other than those of an unavailable store: a server on a busy machine may be slow at
 * any time.
 */
export const faultsBesideOutages = (service: ServiceProcess): string[] =>
  faultsOf(service).filter((line) => !line.includes('the store does not answer'))

/** Logged of a unit that is killed at the deadline of its drain. */
export const OVERSTAYED = 'ms after its drain'

/** How many messages that a process has logged contain a text. */
export const linesWith = ({ stderr }: ServiceProcess, text: string): number =>
  stderr.filter((line) => (JSON.parse(line) as { msg: string }).msg.includes(text)).length
