import type { Test } from 'tap'
import { Documents } from '../../documents.ts'
import { TICKET, TICKET_TTL_MS, valuesOf } from '../sample-documents.ts'
import type { OpenForTest } from '../under-test.ts'
import { seen, stored } from './documents.ts'

const ticket = (id: string, seat: string) => ({ owner: 'ann', id, seat })

export async function testDocumentExpiry(t: Test, open: OpenForTest): Promise<void> {
  t.test('a document is served until its time to live is over, and by nothing after it', async (t) => {
    const { storage, clock } = await open(t)
    const tickets = new Documents(storage.documents, TICKET)
    const [first] = [stored(await tickets.insert(ticket('a', '1')))]
    await tickets.putHot(first, 1, { position: 1 })
    clock.advance(TICKET_TTL_MS / 2)
    stored(await tickets.insert(ticket('b', '2')))
    clock.advance(TICKET_TTL_MS / 2)
    t.equal(await tickets.get('ann', ['a']), null)
    t.equal(await tickets.findBy('seat', 'ann', ['1']), null)
    for (const limit of [1, 10]) {
      t.strictSame(valuesOf((await tickets.list('ann', { limit })).documents), [ticket('b', '2')])
      const { documents, next } = await tickets.listBy('bySeat', 'ann', { limit })
      t.strictSame([valuesOf(documents), next], [[ticket('b', '2')], null])
    }
    t.strictSame(await tickets.update(first, ticket('a', '3')), { ok: false, reason: 'changed' })
    t.equal(await tickets.delete(first), false)
  })

  t.test(
    'what expired is in nobody’s way: neither its key, nor its unique value, nor its hot value',
    async (t) => {
      const { storage, clock } = await open(t)
      const tickets = new Documents(storage.documents, TICKET)
      const first = stored(await tickets.insert(ticket('a', '1')))
      await tickets.putHot(first, 1, { position: 1 })
      clock.advance(TICKET_TTL_MS)
      const taken = stored(await tickets.insert(ticket('b', '1')))
      t.strictSame(seen(await tickets.findBy('seat', 'ann', ['1'])), seen(taken))
      const next = stored(await tickets.insert(ticket('a', '2')))
      t.strictSame(await tickets.hot([next]), [null])
      t.strictSame(await tickets.insert(ticket('c', '1')), { ok: false, reason: 'taken' })
      clock.advance(TICKET_TTL_MS)
      stored(await tickets.insert(ticket('a', '1')))
      t.equal(await tickets.findBy('seat', 'ann', ['2']), null)
    }
  )

  t.test('a time to live is counted from the change, while others are being made', async (t) => {
    const { storage, clock } = await open(t)
    const tickets = new Documents(storage.documents, TICKET)
    const first = tickets.insert(ticket('a', '1'))
    // The group searches for expired documents now; changes may still join it.
    await Promise.resolve()
    clock.advance(TICKET_TTL_MS)
    const second = stored(await tickets.insert(ticket('b', '2')))
    stored(await first)
    clock.advance(TICKET_TTL_MS / 2)
    t.strictSame(seen(await tickets.get('ann', ['b'])), seen(second))
  })

  t.test('an update begins the time to live anew', async (t) => {
    const { storage, clock } = await open(t)
    const tickets = new Documents(storage.documents, TICKET)
    const first = stored(await tickets.insert(ticket('a', '1')))
    clock.advance(TICKET_TTL_MS - 10_000)
    const second = stored(await tickets.update(first, ticket('a', '1')))
    clock.advance(TICKET_TTL_MS - 10_000)
    t.strictSame(seen(await tickets.get('ann', ['a'])), seen(second))
    t.strictSame(seen(await tickets.findBy('seat', 'ann', ['1'])), seen(second))
    t.strictSame(valuesOf((await tickets.listBy('bySeat', 'ann', { limit: 9 })).documents), [
      ticket('a', '1')
    ])
    clock.advance(20_000)
    t.equal(await tickets.get('ann', ['a']), null)
  })
}
