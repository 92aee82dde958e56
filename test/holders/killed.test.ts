import { spawn, type ChildProcessByStdio } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import type { Readable, Writable } from 'node:stream'
import t, { type Test } from 'tap'
import { pubkeyToBase58, type Pubkey } from '../../src/chain/pubkey.ts'
import { NATIVE_MINT } from '../../src/chain/token-accounts.ts'
import { USDC } from '../../src/localnet/programs.ts'
import { ownDirectory } from '../own-directory.ts'
import { IS_LONG } from '../random-runs.ts'
import { until } from '../service/asking.ts'
import { blockOfText } from '../followers/block-text.ts'
import type { FromChild, KillPoint, ToChild } from './holder-child.ts'
import { HolderWorld } from './holder-world.ts'

/** Points of a first reading. Each kills the process that reads another mint. */
const OF_READINGS: readonly KillPoint[] = IS_LONG
  ? ['list.during', 'list.after', 'state.before']
  : ['list.during', 'list.after']
/** Points of following blocks. A start after a block without its progress reaches those of deleted rows. */
const OF_BLOCKS: readonly KillPoint[] = IS_LONG
  ? ['block.before', 'block.after', 'drop.during', 'block.during', 'state.during', 'state.after']
  : ['block.after', 'drop.during', 'block.during', 'state.during']
const RANDOM_KILLS = IS_LONG ? 40 : 1
/** Blocks that are read again after a death: more than the follower of a busy machine is behind. */
const RECALLED = 60

/** A process that maintains holder lists, until it is killed. */
class Life {
  readonly #child: ChildProcessByStdio<Writable, Readable, null>
  readonly #exit: Promise<[number | null, NodeJS.Signals | null]>
  readonly #answers: string[] = []
  /** The point at which it has killed itself. */
  killedAt: string | null = null
  isOver = false

  constructor(t: Test, directory: string, nodeUrl: string) {
    const script = join(import.meta.dirname, 'holder-child.ts')
    this.#child = spawn(process.execPath, [script, directory, nodeUrl], {
      stdio: ['pipe', 'pipe', 'inherit']
    })
    t.teardown(() => this.kill())
    // It may die at any time.
    this.#child.stdin.on('error', () => undefined)
    this.#exit = once(this.#child, 'exit') as Promise<[number | null, NodeJS.Signals | null]>
    void this.#exit.then(() => (this.isOver = true))
    createInterface({ input: this.#child.stdout }).on('line', (line) => {
      if (line.startsWith('killed at ')) this.killedAt = line.slice('killed at '.length)
      else this.#answers.push(line)
    })
  }

  tell(told: ToChild): void {
    if (!this.isOver) this.#child.stdin.write(`${JSON.stringify(told)}\n`)
  }

  /** Kills the process, which may have died before. */
  kill(): void {
    this.#child.kill('SIGKILL')
  }

  async end(): Promise<NodeJS.Signals | null> {
    const [, signal] = await this.#exit
    return signal
  }

  /** Resolves with its lists once all are live at a slot; null where they are not. */
  async compare(slot: number, mints: readonly string[]): Promise<FromChild | null> {
    this.tell({ compare: slot, mints })
    const line = await until(async () => {
      if (this.isOver) throw new Error('the process has died')
      return this.#answers.shift() ?? null
    }, 'an answer of the process')
    return JSON.parse(line) as FromChild | null
  }
}

t.test('after a kill -9 at any point each list is that of the chain at its slot', async (t) => {
  const world = await HolderWorld.open(t, 11)
  const directory = join(ownDirectory(t), 'killed')
  const asked: Pubkey[] = []
  const mints: readonly Pubkey[] = [
    NATIVE_MINT,
    USDC,
    world.traffic.classic.mint.toBytes(),
    world.traffic.fees.mint.toBytes()
  ]
  let life: Life | null = null
  world.bank.listen((event) => {
    if (event.kind === 'block' && event.commitment === 'processed')
      life?.tell({ block: world.blocks.at(-1)! })
  })
  const begin = (killAt: KillPoint | null): Life => {
    const begun = new Life(t, directory, world.nodeUrl)
    const { slot } = blockOfText(world.blocks.at(-1)!)
    begun.tell({ start: slot, recalled: world.blocks.slice(-RECALLED), killAt })
    return (life = begun)
  }
  /** Makes slots until the process has died, and some more. */
  const died = async (dying: Life, point: string): Promise<void> => {
    await until(async () => {
      await world.slots(1)
      return dying.isOver
    }, `a death at ${point}`)
    t.equal(await dying.end(), 'SIGKILL', point)
    await world.slots(world.choices.below(3))
  }
  const ask = async (asking: Life, mint: Pubkey, killAt: KillPoint | null): Promise<void> => {
    asked.push(mint)
    asking.tell({ ask: world.mintOf(mint), killAt })
  }
  /** Compares all lists with the chain. Returns the number of requests to the node. */
  const equal = async (living: Life, message: string): Promise<number> => {
    const names = asked.map(pubkeyToBase58)
    let looks = 0
    const found = await until(async () => {
      // A list that is read needs a slot to end at.
      if (looks++ % 20 === 19) await world.slots(1)
      return living.compare(world.bank.slot('processed'), names)
    }, message)
    for (const [at, shape] of world.chains(asked).entries())
      t.strictSame(found.lists[names[at]!], plain(shape), `${message}: ${names[at]}`)
    return found.calls
  }
  await world.slots(3)
  for (const [at, point] of OF_READINGS.entries()) {
    const reading = begin(null)
    if (at > 0) await equal(reading, `after a death at ${OF_READINGS[at - 1]}`)
    await ask(reading, mints[at]!, point)
    await died(reading, point)
    t.equal(reading.killedAt, point)
  }
  let last = begin(null)
  await equal(last, 'after the deaths of readings')
  await ask(last, mints[3]!, null)
  await equal(last, 'before the deaths at blocks')
  for (const point of OF_BLOCKS) {
    // Rows are deleted when a start rolls back blocks that its progress lacks.
    if (point === 'drop.during') last = begin(point)
    else last.tell({ killAt: point })
    await died(last, point)
    t.equal(last.killedAt, point)
    if (point === 'block.after') continue
    last = begin(null)
    t.equal(await equal(last, `after a death at ${point}`), 0, 'the node was not asked again')
  }
  for (let kill = 0; kill < RANDOM_KILLS; kill++) {
    await world.slots(world.choices.below(4))
    const wait = world.choices.below(40)
    await new Promise((resolve) => setTimeout(resolve, wait))
    last.kill()
    await died(last, `random instant ${kill}`)
    last = begin(null)
    t.equal(await equal(last, `after a death at random instant ${kill}`), 0, 'the node was not asked again')
  }
  last.kill()
  await last.end()
})

const plain = (value: unknown): unknown =>
  JSON.parse(JSON.stringify(value, (_, each: unknown) => (typeof each === 'bigint' ? String(each) : each)))
