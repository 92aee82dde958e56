import { existsSync, writeFileSync } from 'node:fs'
import { homedir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { Connection } from '@solana/web3.js'
import type { Test } from 'tap'
import { freePort } from '../servers/free-port.ts'
import { notRun } from '../servers/not-run.ts'
import { makeServerFolder, removeServerFolder, ServerProcess } from '../servers/server-process.ts'
import { yieldSpinning } from './spinning-thread.ts'

const PROGRAM = process.env.VALIDATOR ?? join(import.meta.dirname, '../../../shared/bin/validator')
const CACHE = join(process.env.TEST_SERVERS_CACHE ?? join(homedir(), '.cache/millrace-tests'), 'validator')
/** Milliseconds until it must be healthy. That takes 1 to 3 s; unpacking and a busy machine take longer. */
const START_MS = 300_000
/** Number of shreds kept, enough for several thousand slots; the default of 10,000 loses the first of 500 slots. */
const SHREDS_MAX = '200000'

export interface ValidatorOptions {
  /** Port of JSON-RPC; a free one by default. */
  readonly port?: number
  /** Ticks of 6.25 ms in a slot; 64 by default, which are 400 ms. */
  readonly ticksPerSlot?: number
  /** Programs of its genesis, by address. */
  readonly programs?: Readonly<Record<string, Buffer>>
  /** Folder of accounts of its genesis, a JSON file each. */
  readonly accountsFolder?: string
  /** Levels of its log (`RUST_LOG`); warnings by default. */
  readonly logLevel?: string
}

/** Agave's test validator on loopback. Takes one core while it runs, most of it for a thread of low priority. */
export class RealValidator {
  readonly url: string
  readonly connection: Connection
  readonly server: ServerProcess
  readonly folder: string

  private constructor(server: ServerProcess, folder: string, port: number) {
    this.server = server
    this.folder = folder
    this.url = `http://127.0.0.1:${port}`
    const wsEndpoint = `ws://127.0.0.1:${port + 1}`
    this.connection = new Connection(this.url, {
      commitment: 'confirmed',
      wsEndpoint,
      disableRetryOnRateLimit: true
    })
  }

  /** Starts a validator with its own genesis. */
  static async start({
    port,
    ticksPerSlot,
    programs = {},
    accountsFolder,
    logLevel
  }: ValidatorOptions = {}): Promise<RealValidator> {
    const folder = makeServerFolder('validator')
    const rpcPort = port ?? (await freePort(['127.0.0.1']))
    const ports = ['--rpc-port', String(rpcPort), '--grpc-port', String(rpcPort + 5)]
    const pace = ticksPerSlot === undefined ? [] : ['--ticks-per-slot', String(ticksPerSlot)]
    const own = Object.entries(programs).flatMap(([address, bytes]) => {
      const file = join(folder, `${address}.so`)
      writeFileSync(file, bytes)
      return ['--bpf-program', address, file]
    })
    const accounts = accountsFolder === undefined ? [] : ['--account-dir', accountsFolder]
    const server = new ServerProcess({
      command: 'env',
      args: [
        `VALIDATOR_CACHE=${CACHE}`,
        ...(logLevel === undefined ? [] : [`RUST_LOG=${logLevel}`]),
        'bash',
        PROGRAM,
        join(folder, 'node'),
        ...ports,
        ...pace,
        ...own,
        ...accounts,
        '--limit-ledger-size',
        SHREDS_MAX
      ],
      cwd: folder,
      log: join(folder, 'log'),
      address: '127.0.0.1',
      port: rpcPort,
      startWithinMs: START_MS,
      // See `yieldSpinning`.
      sharesSession: true
    })
    await server.start()
    const validator = new RealValidator(server, folder, rpcPort)
    await validator.healthy()
    return validator
  }

  get port(): number {
    return Number(new URL(this.url).port)
  }

  /** Folder of its ledger, with its keys. */
  get ledger(): string {
    return join(this.folder, 'node/ledger')
  }

  /** File of its output. */
  get log(): string {
    return join(this.folder, 'log')
  }

  get grpcUrl(): string {
    return `http://127.0.0.1:${this.port + 5}`
  }

  /** Resolves once it makes blocks; to be awaited after each start of its process. */
  async healthy(): Promise<void> {
    const deadline = performance.now() + START_MS
    while ((await this.connection.getSlot('confirmed').catch(() => 0)) < 1) {
      if (performance.now() > deadline) throw new Error('the validator is not healthy')
      await delay(100)
    }
    yieldSpinning(this.server.pid!)
  }

  async end(): Promise<void> {
    await this.server.kill()
    removeServerFolder(this.folder)
  }
}

/** Declares a test on a real validator. If none is installed it is reported as not run, and fails if CI is set. */
export function testWithValidator(
  t: Test,
  name: string,
  run: (t: Test, validator: RealValidator) => Promise<void>,
  options: ValidatorOptions = {}
): void {
  if (!existsSync(PROGRAM) || process.platform !== 'linux' || process.arch !== 'x64') {
    notRun(t, name, `there is no validator at ${PROGRAM} for this machine (set VALIDATOR)`)
    return
  }
  void t.test(name, async (t) => {
    const validator = await RealValidator.start(options)
    t.teardown(() => validator.end())
    await run(t, validator)
  })
}
