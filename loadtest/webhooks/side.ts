import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { giveServersCore } from '../cores.ts'
import { startMeasured, type MeasuredProcess } from '../measured-process.ts'
import type { Shape } from '../stream/trades.ts'
import type { Commits, Cost, EngineOrder, Memory } from './engine-process.ts'
import type { Plan } from './plan.ts'
import type { Receipt, ReceiversOrder, Totals } from './receivers.ts'

const PORTS = 50

/** An engine with its receivers, each in its own process. */
export class Side {
  readonly #engine: MeasuredProcess
  readonly #receivers: MeasuredProcess
  readonly #directory: string
  readonly #ports: readonly number[]

  private constructor(
    engine: MeasuredProcess,
    receivers: MeasuredProcess,
    directory: string,
    ports: readonly number[]
  ) {
    this.#engine = engine
    this.#receivers = receivers
    this.#directory = directory
    this.#ports = ports
  }

  /** Starts both. With `hasCore` the engine has the first core for itself. */
  static async start(hasCore: boolean, nodeArgs: readonly string[] = []): Promise<Side> {
    const directory = mkdtempSync(join(tmpdir(), 'millrace-webhooks-'))
    const receivers = await startMeasured('webhooks/receivers.ts', [String(PORTS)])
    const engine = await startMeasured('webhooks/engine-process.ts', [join(directory, 'store')], {
      nodeArgs: ['--expose-gc', ...nodeArgs]
    })
    if (hasCore) giveServersCore(engine.pid)
    const order: ReceiversOrder = { kind: 'ports' }
    const ports = (await receivers.ask(JSON.stringify(order))) as number[]
    return new Side(engine, receivers, directory, ports)
  }

  async insert(plans: readonly Plan[]): Promise<void> {
    await this.#order({ kind: 'insert', plans, ports: this.#ports })
  }

  async startDeliveries(): Promise<void> {
    await this.#order({ kind: 'start' })
  }

  deliver(shape: Shape, blocks: number): Promise<Cost> {
    return this.#order({ kind: 'deliver', shape, blocks }) as Promise<Cost>
  }

  bare(posts: number): Promise<Cost> {
    return this.#order({ kind: 'bare', posts, ports: this.#ports }) as Promise<Cost>
  }

  live(shape: Shape, blocks: number, everyMs: number): Promise<Commits> {
    return this.#order({ kind: 'live', shape, blocks, everyMs }) as Promise<Commits>
  }

  async drained(): Promise<void> {
    await this.#order({ kind: 'drain' })
  }

  memory(): Promise<Memory> {
    return this.#order({ kind: 'memory' }) as Promise<Memory>
  }

  /** Requests of these webhooks are no longer answered. */
  async hang(numbers: readonly number[]): Promise<void> {
    await this.#ask({ kind: 'hang', numbers })
  }

  receipts(): Promise<Receipt[]> {
    return this.#ask({ kind: 'receipts' }) as Promise<Receipt[]>
  }

  totals(eventsPerChannel: number): Promise<Totals> {
    return this.#ask({ kind: 'totals', eventsPerChannel }) as Promise<Totals>
  }

  async end(): Promise<void> {
    for (const line of this.#engine.stderr) process.stderr.write(`${line}\n`)
    await Promise.all([this.#engine.end(), this.#receivers.end()])
    rmSync(this.#directory, { recursive: true })
  }

  #order(order: EngineOrder): Promise<unknown> {
    return this.#engine.ask(JSON.stringify(order))
  }

  #ask(order: ReceiversOrder): Promise<unknown> {
    return this.#receivers.ask(JSON.stringify(order))
  }
}
