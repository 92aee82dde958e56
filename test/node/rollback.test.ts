import fc from 'fast-check'
import t from 'tap'
import type { SlotRow } from '../../src/market/rows.ts'
import { BlockFinder } from '../../src/node/block-finder.ts'
import { BlockSequence } from '../../src/node/block-sequence.ts'
import type { FetchedBlock } from '../../src/node/chain-node.ts'
import { RollbackFinder, type StoredChain } from '../../src/node/rollback.ts'
import { sleep } from '../../src/ports.ts'
import { settle, virtualClock } from '../virtual-time.ts'
import { randomRuns } from '../random-runs.ts'
import { absent, emptyBlock, ScriptedNode } from './scripted-node.ts'

const STEP_MS = 50

/** A store of blocks beside a sequence. It stores delivered blocks as ingest does. */
class World {
  readonly clock = virtualClock()
  readonly stored = new Map<number, SlotRow>()
  readonly doubts: (string | null)[] = []
  readonly gaps: string[] = []
  rollbacks = 0
  genesis: string | null = 'genesis'
  readonly #chain: StoredChain = {
    at: async (slot) => this.stored.get(slot) ?? null,
    head: async () => this.stored.get(this.head) ?? null,
    oldest: async () => Math.min(...this.stored.keys()),
    genesis: async () => this.genesis
  }

  get head(): number {
    return Math.max(-1, ...this.stored.keys())
  }

  get hashes(): string[] {
    return [...this.stored.values()].sort((a, b) => a.slot - b.slot).map(({ blockhash }) => blockhash!)
  }

  node(name: string, blocks: ReadonlyMap<number, FetchedBlock>): ScriptedNode {
    return new ScriptedNode(this.clock, name, new Map(blocks))
  }

  put({ block, blockhash }: Pick<FetchedBlock, 'block' | 'blockhash'>): void {
    const { slot, blockTime, parentSlot } = block
    const counts = { transactions: 0, trades: 0, events: 0, receivedAtMs: 0 }
    this.stored.set(slot, { slot, blockTime, parentSlot, blockhash, ...counts })
  }

  fill(chain: ReadonlyMap<number, FetchedBlock>): void {
    for (const block of chain.values()) this.put(block)
  }

  /** Reads nodes from the stored head, as a process that just started, until a condition holds or time is over. */
  async read(nodes: readonly ScriptedNode[], until: () => boolean, withinMs = 60_000): Promise<boolean> {
    const { clock } = this
    const stop = new AbortController()
    const finder = new BlockFinder(nodes, { clock, random: () => 1, giveUpMs: 5_000 })
    const sequence = new BlockSequence(finder, {
      commitment: 'confirmed',
      prefetch: 4,
      clock,
      headMoved: (ms, signal) => sleep(clock, Math.min(ms, 100), signal),
      rollbacks: new RollbackFinder({
        finder,
        stored: this.#chain,
        commitment: 'confirmed',
        isSettled: true,
        clock
      }),
      onDoubt: (reason) => void this.doubts.push(reason),
      onGap: ({ from, to, reason }) => void this.gaps.push(`${reason} ${from}-${to}`),
      onOddity: () => undefined
    })
    const head = this.head === -1 ? null : this.head
    const hash = head === null ? null : this.stored.get(head)!.blockhash
    const reading = (async () => {
      for await (const { block, rollback } of sequence.after(head, stop.signal, hash)) {
        if (rollback !== undefined) {
          this.rollbacks++
          for (const slot of [...this.stored.keys()]) if (slot > rollback.after) this.stored.delete(slot)
          for await (const each of rollback.blocks) {
            if ('block' in each)
              this.put({ block: each.block as FetchedBlock['block'], blockhash: each.block.blockhash! })
            else this.gaps.push(`${each.reason} ${each.from}-${each.to}`)
          }
        }
        this.put({ block: block as FetchedBlock['block'], blockhash: block.blockhash! })
      }
    })()
    for (let waited = 0; waited <= withinMs && !until(); waited += STEP_MS) {
      clock.increment(STEP_MS)
      await settle()
    }
    stop.abort()
    clock.increment(10_000)
    await settle()
    await reading
    return until()
  }
}

/** Returns blocks of a named fork that follow one of a chain, in the given slots. */
function goOn(
  before: ReadonlyMap<number, FetchedBlock>,
  slots: readonly number[],
  fork: string
): Map<number, FetchedBlock> {
  const blocks = new Map(before)
  let last = [...before.values()].at(-1)
  for (const slot of slots) {
    const parent = last?.block.slot ?? slot - 1
    const block = emptyBlock(slot, parent, fork)
    const previousBlockhash = last?.blockhash ?? `h${parent}`
    last = {
      ...block,
      previousBlockhash,
      block: { ...block.block, blockhash: block.blockhash, parentBlockhash: previousBlockhash }
    }
    blocks.set(slot, last)
  }
  return blocks
}

const upTo = (blocks: ReadonlyMap<number, FetchedBlock>, slot: number) =>
  new Map([...blocks].filter(([each]) => each <= slot))

const range = (from: number, to: number): number[] =>
  Array.from({ length: to - from + 1 }, (_, i) => from + i)

t.test('a node put back any number of times leaves what is stored as its chain is', async (t) => {
  const anyStep = fc.record({
    back: fc.nat(30),
    skipped: fc.array(fc.nat(40), { maxLength: 12 }),
    on: fc.integer({ min: 1, max: 40 })
  })
  await fc.assert(
    fc.asyncProperty(fc.array(anyStep, { minLength: 1, maxLength: 4 }), async (steps) => {
      const world = new World()
      let chain = goOn(new Map(), range(1, 30), '')
      world.fill(chain)
      for (const [nth, { back, skipped, on }] of steps.entries()) {
        const top = [...chain.keys()].at(-1)!
        const kept = upTo(chain, Math.max(1, top - back))
        const from = [...kept.keys()].at(-1)! + 1
        const slots = range(from, top + on).filter(
          (slot) => slot === top + on || !skipped.includes(slot - from)
        )
        chain = goOn(kept, slots, ` of fork ${nth}`)
        const hashes = [...chain.values()].map(({ blockhash }) => blockhash)
        const isDone = await world.read([world.node('a', chain)], () => world.hashes.join() === hashes.join())
        t.ok(isDone, `${world.hashes.join(' ')} is ${hashes.join(' ')}`)
      }
      t.strictSame(world.gaps, [])
    }),
    randomRuns(30)
  )
})

t.test('nothing is taken back while a node still has the stored head, and the reason is told', async (t) => {
  const world = new World()
  const chain = goOn(new Map(), range(1, 30), '')
  const other = goOn(upTo(chain, 20), range(21, 40), ' put back')
  world.fill(chain)
  const [back, still] = [world.node('a', other), world.node('b', chain)]
  t.notOk(await world.read([back, still], () => world.head > 30, 15_000))
  t.match(world.doubts.at(-1), /slot 31 does not follow slot 30.*b still has the stored block of slot 30/)
  still.blocks.clear()
  for (const [slot, block] of other) still.blocks.set(slot, block)
  t.ok(await world.read([back, still], () => world.head === 40), 'once the nodes agree it is')
  t.equal(world.doubts.at(-1), null)
})

t.test('a node of another genesis proves nothing', async (t) => {
  const world = new World()
  const chain = goOn(new Map(), range(1, 30), '')
  world.fill(chain)
  const node = world.node('a', goOn(upTo(chain, 20), range(21, 40), ' other'))
  node.genesisHash = 'another'
  t.notOk(await world.read([node], () => world.head > 30, 10_000))
  t.match(world.doubts.at(-1), /its genesis is another, not genesis/)
  t.equal(world.hashes.join(), [...chain.values()].map(({ blockhash }) => blockhash).join())
})

t.test('while the node stands below what is stored nothing is given out or taken back', async (t) => {
  const world = new World()
  const chain = goOn(new Map(), range(1, 30), '')
  world.fill(chain)
  t.notOk(
    await world.read(
      [world.node('a', goOn(upTo(chain, 20), range(21, 29), ' new'))],
      () => world.rollbacks > 0,
      10_000
    )
  )
  t.equal(world.head, 30)
})

t.test('where the common block is no longer kept by any node, the rollback says so', async (t) => {
  const world = new World()
  const chain = goOn(new Map(), range(1, 30), '')
  world.fill(chain)
  const node = world.node('a', goOn(upTo(chain, 20), range(21, 40), ' new'))
  for (const slot of range(1, 25)) node.blocks.delete(slot)
  node.otherwise = absent('pruned')
  const finder = new BlockFinder([node], { clock: world.clock, random: () => 1, giveUpMs: 5_000 })
  const stored: StoredChain = {
    at: async (slot) => world.stored.get(slot) ?? null,
    head: async () => world.stored.get(30)!,
    oldest: async () => 1,
    genesis: async () => 'genesis'
  }
  const rollbacks = new RollbackFinder({
    finder,
    stored,
    commitment: 'confirmed',
    isSettled: true,
    clock: world.clock
  })
  const strange = { slot: 31, parentSlot: 30, parentBlockhash: 'h30 new', head: 30 }
  const searching = rollbacks.find(strange, new AbortController().signal)
  for (let i = 0; i < 200; i++) {
    world.clock.increment(STEP_MS)
    await settle()
  }
  const found = await searching
  t.match(found, {
    kind: 'rollback',
    rollback: { after: 25, doubt: /no node still has the block of slot 25/ }
  })
})

t.test('a store that begins above the common block has nothing of the chain left to keep', async (t) => {
  const world = new World()
  const chain = goOn(new Map(), range(1, 30), '')
  world.fill(new Map([...chain].filter(([slot]) => slot >= 25)))
  const other = goOn(upTo(chain, 10), range(11, 40), ' new')
  t.ok(await world.read([world.node('a', other)], () => world.head === 40))
  t.equal(world.rollbacks, 1)
  t.strictSame(
    world.hashes,
    range(25, 40).map((slot) => `h${slot} new`),
    'it begins where it did'
  )
})

t.test(
  'a block after a gap follows, unless a node shows that the stored head is of a lost fork',
  async (t) => {
    const world = new World()
    const chain = goOn(new Map(), range(1, 30), '')
    world.fill(chain)
    const putBack = goOn(upTo(chain, 20), range(21, 40), ' new')
    const withoutHead = goOn(upTo(chain, 20), [...range(21, 29), ...range(31, 40)], ' new')
    const longer = goOn(chain, range(31, 40), '')
    const search = async (nodes: readonly ScriptedNode[], blocks: ReadonlyMap<number, FetchedBlock>) => {
      const { clock } = world
      const finder = new BlockFinder(nodes, { clock, random: () => 1, giveUpMs: 5_000 })
      const stored: StoredChain = {
        at: async (slot) => world.stored.get(slot) ?? null,
        head: async () => world.stored.get(30)!,
        oldest: async () => 1,
        genesis: async () => 'genesis'
      }
      const deps = { finder, stored, commitment: 'confirmed', isSettled: true, clock } as const
      const { previousBlockhash } = blocks.get(36)!
      const strange = { slot: 36, parentSlot: 35, parentBlockhash: previousBlockhash, head: 30 }
      const searching = new RollbackFinder(deps).find(
        { ...strange, isAfterGap: true },
        new AbortController().signal
      )
      for (let i = 0; i < 200; i++) {
        clock.increment(STEP_MS)
        await settle()
      }
      return searching
    }
    const lacking = (blocks: ReadonlyMap<number, FetchedBlock>, slots: readonly number[]): ScriptedNode =>
      world.node('lacking', new Map([...blocks].filter(([slot]) => !slots.includes(slot))))

    const rollback = { kind: 'rollback', rollback: { after: 20, doubt: null } }
    const skipping = world.node('skipping', withoutHead)
    skipping.otherwise = absent('skipped')
    t.match(await search([world.node('a', putBack)], putBack), rollback)
    t.match(await search([skipping], withoutHead), rollback, 'also where its slot is skipped')
    t.match(await search([lacking(putBack, [33])], putBack), {
      kind: 'unproven',
      reason: /no node returns the block of slot 33/
    })
    t.same(await search([world.node('a', longer)], longer), { kind: 'follows' })
    t.same(
      await search([lacking(longer, [30])], longer),
      { kind: 'follows' },
      'a node that lacks the head shows nothing'
    )
    t.same(await search([lacking(longer, [30, 33])], longer), { kind: 'follows' })
    t.same(await search([], longer), { kind: 'follows' })
  }
)
