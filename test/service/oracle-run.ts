import { seededRandom } from '../../src/localnet/market/random.ts'
import { until } from './asking.ts'
import { compareAccounts } from './oracle-accounts.ts'
import { compareWithOracle, type OracleComparison } from './oracle-answers.ts'
import { makeOracleChain, type OracleChain } from './oracle-chain.ts'
import { ChainFaults, planFaults } from './oracle-faults.ts'
import { startProcess, type ServiceProcess } from './service-process.ts'

export interface OracleRunOptions {
  readonly seed: string
  readonly slots: number
  /** Data folder of the service; the caller makes and deletes it. */
  readonly dataDir: string
  /** Settings of another store for the service's data. */
  readonly environment?: Readonly<Record<string, string>>
  /** Whether the chain stops once until the service reports a stalled source. */
  readonly stallsUntilSeen?: boolean
  /** Interval in slots of the comparisons of accounts; undefined for never. */
  readonly accountsEvery?: number
  readonly onProgress?: (line: string) => void
  /** Called at the end, to inspect the service and its chain. */
  readonly inspect?: (service: ServiceProcess, chain: OracleChain) => Promise<void>
}

export interface OracleRun extends OracleComparison {
  readonly seconds: number
  /** Comparisons of accounts, by kind; empty if accounts are not compared. */
  readonly accounts: Readonly<Record<string, number>>
  /** Movements of tokens beside the market's that have landed, by kind. */
  readonly traffic: Readonly<Record<string, number>>
  readonly fired: Readonly<Record<string, number>>
  readonly chainFaults: readonly unknown[]
}

/** Maximum lag of the service before the chain waits. So it is not always at the head, and no blocks are pruned. */
const BEHIND_MAX = 60
/** Maximum number of slots that are made while no service runs. */
const SLOTS_WITHOUT_SERVICE = 25
const SHORT_STALL_MS = 1_500

/**
 * Runs the service against the node of a market while chain, node, sockets and the service itself fail. Then compares all
 * its answers with the market's own record. Everything except the moments of kills follows from the seed.
 */
export async function runOracle(options: OracleRunOptions): Promise<OracleRun> {
  const { seed, slots, dataDir, environment = {}, onProgress = () => undefined } = options
  const startedAt = performance.now()
  const { accountsEvery } = options
  const chain = await makeOracleChain(seed, slots, { hasTraffic: accountsEvery !== undefined })
  const faults = new ChainFaults(chain, seed)
  const random = seededRandom(`${seed}/kills`)
  const counts = { kills: 0, killsWhileBehind: 0, stalls: 0, stallsSeen: 0 }
  const start = (): Promise<ServiceProcess> =>
    startProcess({
      dataDir,
      recordedDir: null,
      environment,
      more: ['--source', 'rpc', '--rpc-url', chain.url, '--rate-limit-per-minute', '1000000']
    })
  let service: ServiceProcess | null = null
  const head = async (): Promise<number> =>
    service === null ? 0 : Number((await service.get('/v1/health', null)).body['slot'] ?? 0)
  const follows = (lag: number): Promise<boolean> =>
    until(async () => (await head()) >= chain.bank.slot('confirmed') - lag, 'the service follows')

  const kill = async (): Promise<void> => {
    // The kill falls into its work on the new block, mostly a commit.
    await new Promise((resolve) => setTimeout(resolve, random.next() * 40))
    if ((await head()) < chain.bank.slot('confirmed')) counts.killsWhileBehind++
    const { signal } = await service!.end('SIGKILL')
    service = null
    if (signal === 'SIGKILL') counts.kills++
    for (let left = Math.floor(random.next() * SLOTS_WITHOUT_SERVICE); left > 0; left--) await chain.step()
    service = await start()
  }
  const stall = async (): Promise<void> => {
    chain.bank.faults.stall()
    await chain.step()
    counts.stalls++
    if (options.stallsUntilSeen === true && counts.stallsSeen === 0) {
      await until(async () => (await isStalled(service!)) || null, 'the stall is seen')
      counts.stallsSeen++
    } else await new Promise((resolve) => setTimeout(resolve, SHORT_STALL_MS))
    chain.bank.faults.resume()
  }

  const accounts: Record<string, number> = {}
  const found: string[] = []
  const checkAccounts = async (): Promise<void> => {
    await chain.settle()
    await follows(0)
    const { compared, differences } = await compareAccounts(service!, chain)
    for (const [what, count] of Object.entries(compared)) accounts[what] = (accounts[what] ?? 0) + count
    found.push(...differences)
    for (const line of differences) onProgress(line)
  }

  try {
    await chain.step()
    await chain.step()
    service = await start()
    await follows(0)
    const plan = planFaults(seed, slots)
    for (let slot = 0; slot < slots; slot++) {
      for (const fault of plan.get(slot) ?? []) {
        if (fault === 'kill') await kill()
        else if (fault === 'stall') await stall()
        else faults.ask(fault)
      }
      await chain.step()
      faults.pass()
      if (slot % 20 === 0 && (await head()) < chain.bank.slot('confirmed') - BEHIND_MAX)
        await follows(BEHIND_MAX / 2)
      if (accountsEvery !== undefined && slot % accountsEvery === accountsEvery - 1) await checkAccounts()
      if (slot % 100 === 99)
        onProgress(
          `${seed}: slot ${slot + 1} of ${slots}, ${JSON.stringify(counts)}, ${found.length} differences`
        )
    }
    // A service that was killed near the end has not yet queried a slow node.
    while (faults.isSlow) {
      await chain.step()
      await follows(0)
      faults.pass()
    }
    faults.end()
    await chain.settle()
    await follows(0)
    const compared = await compareWithOracle(service, chain, chain.bank.slot('confirmed'))
    await options.inspect?.(service, chain)
    const seconds = (performance.now() - startedAt) / 1_000
    return {
      ...compared,
      differences: [...compared.differences, ...found],
      seconds,
      accounts,
      traffic: chain.traffic?.landed() ?? {},
      fired: { ...faults.fired, ...counts },
      chainFaults: chain.faults
    }
  } catch (error) {
    const said = service?.stderr.slice(-20) ?? []
    throw new Error(`${seed}: ${String(error)}\n${said.join('\n')}`, { cause: error })
  } finally {
    await service?.end('SIGKILL')
    await chain.close()
  }
}

interface Unit {
  readonly name: string
  readonly gauges: Readonly<Record<string, number>>
  readonly children: readonly Unit[]
}

/** Returns whether the service reports that its source does not advance. */
async function isStalled(service: ServiceProcess): Promise<boolean> {
  const { body } = await service.get('/v1/admin/tree')
  const has = (unit: Unit): boolean => unit.gauges['is_stalled'] === 1 || unit.children.some(has)
  return has(body as unknown as Unit)
}
