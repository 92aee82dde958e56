import t from 'tap'
import { blocksWithoutRoom } from '../../../actors/ingest/course-changes.ts'
import type { DecodedBlock } from '../../../src/market/block.ts'
import { cursorAt, EVENT_POSITIONS, positionsOf, walletPositions } from '../../../src/market/cursor.ts'

const HEAD = 100
/** Cursor positions of a trade, with that of its copy on `wallet:`. */
const TRADE = positionsOf([{ kind: 'trade' }]) + walletPositions(positionsOf([{ kind: 'trade' }]))
/** Number of trades that fill the rest of the head's slot. */
const ROOM = Math.floor(EVENT_POSITIONS / TRADE)
/** Number of trades of which one block has positions. */
const HALF = Math.floor(ROOM / 2)

/** Returns a block with a number of trades. */
function block(slot: number, trades: number): DecodedBlock {
  const entries = Array.from({ length: trades }, () => ({ event: { kind: 'trade' } }))
  return { slot, entries } as unknown as DecodedBlock
}

t.test('blocks in place of a lost fork have room up to the last position before the next slot', async (t) => {
  // One block has not as many positions as there is room.
  const course = (trades: number) => [
    block(98, 1),
    block(99, trades - HALF),
    block(HEAD, 1 + HALF),
    block(HEAD + 1, 9)
  ]
  t.equal(blocksWithoutRoom(course(ROOM - 2), HEAD), 0)
  t.equal(blocksWithoutRoom(course(ROOM - 1), HEAD), 1, 'the oldest one has none')
  t.equal(blocksWithoutRoom(course(ROOM), HEAD), 2, 'nor have those before one that has none')
  t.equal(blocksWithoutRoom([block(HEAD + 1, ROOM)], HEAD), 0, 'the last block has its own cursors')
})

t.test('with 130,000 events and more the moved cursors stay below those of the next block', async (t) => {
  const course = [
    block(96, 34_000),
    block(97, 34_000),
    block(98, 34_000),
    block(99, 34_000),
    block(HEAD + 1, 1)
  ]
  const positions = (blocks: readonly DecodedBlock[]) =>
    blocks.slice(0, -1).reduce((sum, { entries }) => sum + entries.length * TRADE, 0)
  const from = cursorAt(HEAD, EVENT_POSITIONS)
  const next = cursorAt(HEAD + 1, 0)
  t.ok(from + positions(course) > next, 'all of them have no room')
  const roomless = blocksWithoutRoom(course, HEAD)
  t.equal(roomless, 1)
  t.ok(from + positions(course.slice(roomless)) <= next)
  const later = [...course.slice(0, -1), block(HEAD + 2, 1)]
  t.equal(blocksWithoutRoom(later, HEAD), 0, 'a slot further on there is room for three times as many')
})
