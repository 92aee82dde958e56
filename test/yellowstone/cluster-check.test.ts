import t from 'tap'
import type { Commitment } from '../../src/market/rows.ts'
import type { Standing } from '../../src/node/standing.ts'
import { ClusterCheck, type AskNodes } from '../../src/yellowstone/cluster-check.ts'
import type { StreamedBlock } from '../../src/yellowstone/read-block.ts'

const { signal } = new AbortController()
const TIME = 1_700_000_000

function streamed(slot: number, more: Partial<StreamedBlock> = {}): StreamedBlock {
  return {
    slot,
    parentSlot: slot - 1,
    blockTime: TIME + slot,
    blockhash: `h${slot}`,
    parentBlockhash: `h${slot - 1}`,
    transactions: [],
    votes: 0,
    unreadable: [],
    ...more
  }
}

interface World {
  readonly head?: number | null
  readonly nodes?: Standing['kind'] | null
  readonly commitment?: Commitment
  readonly stored?: { readonly blocks: ReadonlyMap<number, string> }
}

function checkOf({ head = 100, nodes = null, commitment = 'confirmed', stored }: World) {
  const unproven: string[] = []
  const asked: Parameters<AskNodes>[0][] = []
  const check = new ClusterCheck({
    commitment,
    head: async () => (head === null ? null : { slot: head, blockTime: TIME + head, parentSlot: head - 1 }),
    at: async (slot) => {
      const blockhash = stored?.blocks.get(slot)
      return blockhash === undefined ? null : { blockhash }
    },
    askNodes:
      nodes === null
        ? null
        : async (block) => {
            asked.push(block)
            return nodes === 'same' ? { kind: nodes } : { kind: nodes, reason: 'the nodes say so' }
          },
    onUnproven: (line) => void unproven.push(line)
  })
  const kindOf = async (block: StreamedBlock) => (await check.standingOf(block, signal)).kind
  return { check, unproven, asked, kindOf }
}

t.test("the nodes' blocks decide of which cluster a stream is", async (t) => {
  t.equal(await checkOf({ nodes: 'same' }).kindOf(streamed(500)), 'same')
  t.equal(await checkOf({ nodes: 'same', head: null }).kindOf(streamed(500)), 'same')
  const { check, asked } = checkOf({ nodes: 'other' })
  t.same(await check.standingOf(streamed(500), signal), { kind: 'other', reason: 'the nodes say so' })
  t.same(asked, [{ slot: 500, blockhash: 'h500', isSettled: true }])
})

t.test('nodes that do not know are waited for, but for a block that is stored', async (t) => {
  t.equal(await checkOf({ nodes: 'unknown' }).kindOf(streamed(101)), 'unknown')
  t.equal(await checkOf({ nodes: 'unknown', head: null }).kindOf(streamed(101)), 'unknown')
  t.equal(await checkOf({ nodes: 'unknown' }).kindOf(streamed(100)), 'same')
  const putBack = streamed(99, { blockTime: TIME + 5_000 })
  t.equal(await checkOf({ nodes: 'unknown' }).kindOf(putBack), 'unknown', 'a new block under an old slot')
})

t.test('without nodes, the newest stored block tells, as far as it comes again', async (t) => {
  t.equal(await checkOf({}).kindOf(streamed(100)), 'same')
  t.equal(await checkOf({}).kindOf(streamed(100, { blockTime: TIME })), 'other')
  t.equal(await checkOf({}).kindOf(streamed(100, { parentSlot: 98 })), 'other')
  const processed = checkOf({ commitment: 'processed' })
  t.equal(await processed.kindOf(streamed(100, { parentSlot: 98 })), 'same', 'it may be of another fork')
})

t.test('a slot and a time that no chain brings together are of another one', async (t) => {
  const { check } = checkOf({ head: 1_000 })
  t.match(await check.standingOf(streamed(12, { blockTime: TIME + 2_000 }), signal), {
    kind: 'other',
    reason:
      /^is of another cluster than the stored blocks: its slot 12 is of 2023-11-14T22:46:40.000Z, slot 1000, the newest that is stored, of 2023-11-14T22:30:00.000Z$/
  })
  t.equal(await checkOf({ head: 1_000 }).kindOf(streamed(5_000, { blockTime: TIME })), 'other')
  t.equal(await checkOf({ head: 1_000 }).kindOf(streamed(900)), 'same', 'one that is behind')
})

t.test('a stream that nothing can be said of is taken without a node to ask, and told of once', async (t) => {
  const { kindOf, unproven } = checkOf({})
  t.equal(await kindOf(streamed(300)), 'same')
  t.equal(await kindOf(streamed(400)), 'same')
  t.equal(unproven.length, 1)
  t.match(unproven[0], /cannot be verified to be of the stored cluster .newest slot 100.*MILLRACE_RPC_URL/)
  const empty = checkOf({ head: null })
  t.equal(await empty.kindOf(streamed(300)), 'same')
  t.same(empty.unproven, [], 'an empty store is filled by whatever comes')
})

t.test('a connection that goes on from a block that came before needs no witness', async (t) => {
  const { check, kindOf, asked } = checkOf({ nodes: 'unknown' })
  for (let slot = 200; slot <= 1_300; slot++) check.note(streamed(slot))
  t.equal(await kindOf(streamed(1_300)), 'same', 'the same once more')
  t.equal(await kindOf(streamed(1_301)), 'same', 'its child')
  t.same(asked, [])
  t.equal(await kindOf(streamed(200)), 'unknown', 'a thousand blocks are kept in mind')
  t.equal(asked.length, 1)
})

t.test(
  'another block in the place of one that came is for a node to judge: a put-back node or another cluster',
  async (t) => {
    const foreign = { blockhash: 'x', parentBlockhash: 'y' }
    for (const [nodes, kind] of [
      ['same', 'same'],
      ['other', 'other'],
      ['unknown', 'unknown'],
      [null, 'other']
    ] as const) {
      const { check, kindOf } = checkOf({ nodes })
      check.note(streamed(300))
      t.equal(await kindOf(streamed(300, foreign)), kind, `nodes say ${nodes}`)
    }
    const { check } = checkOf({})
    check.note(streamed(300))
    t.match(await check.standingOf(streamed(300, foreign), signal), {
      reason:
        /restored to an older state: its block of slot 300 differs from the earlier one.*MILLRACE_RPC_URL/
    })
  }
)

t.test('the hashes of stored blocks tell, after a restart too', async (t) => {
  const stored = { blocks: new Map([[90, 'h90']]) }
  const alone = checkOf({ stored })
  t.equal(await alone.kindOf(streamed(91, { blockhash: 'new' })), 'same', 'it goes on from a stored block')
  t.equal(await alone.kindOf(streamed(90, { blockhash: 'x', parentBlockhash: 'y' })), 'other')
  t.same(alone.unproven, [])
  t.equal(
    await checkOf({ stored, nodes: 'same' }).kindOf(streamed(90, { blockhash: 'x' })),
    'same',
    'it was put back'
  )
})

t.test('at processed, another block of a slot that came may be another fork', async (t) => {
  const { check, kindOf, asked } = checkOf({ nodes: 'same', commitment: 'processed' })
  check.note(streamed(200))
  t.equal(await kindOf(streamed(200, { blockhash: 'x', parentBlockhash: 'y' })), 'same')
  t.match(asked, [{ isSettled: false }])
})
