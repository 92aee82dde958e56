import fc from 'fast-check'
import type { Test } from 'tap'
import { Documents } from '../../documents.ts'
import type { Stored } from '../../documents.ts'
import { TICKET, TICKET_TTL_MS, valuesOf } from '../sample-documents.ts'
import type { OpenForTest } from '../under-test.ts'

interface Ticket {
  readonly owner: string
  readonly id: string
  readonly seat: string
}

/** A model of the documents: a plain list, by its own rules. */
class Model {
  #tickets: { readonly ticket: Ticket; readonly version: number; readonly expiresAtMs: number }[] = []
  #version = 0
  nowMs = 0

  get tickets(): Ticket[] {
    return this.#alive.map(({ ticket }) => ticket)
  }

  put(ticket: Ticket, before: number | null): string | number {
    const others = this.#alive.filter((other) => other.ticket.owner === ticket.owner)
    const same = others.find((other) => other.ticket.id === ticket.id)
    if (before === null && same !== undefined) return 'exists'
    if (before !== null && same?.version !== before) return 'changed'
    if (others.some((other) => other !== same && other.ticket.seat === ticket.seat)) return 'taken'
    const rest = this.#alive.filter((other) => other !== same)
    const version = ++this.#version
    this.#tickets = [...rest, { ticket, version, expiresAtMs: this.nowMs + TICKET_TTL_MS }]
    return version
  }

  delete(version: number): boolean {
    const rest = this.#alive.filter((other) => other.version !== version)
    const isDeleted = rest.length < this.#alive.length
    this.#tickets = rest
    return isDeleted
  }

  get #alive() {
    return this.#tickets.filter(({ expiresAtMs }) => this.nowMs < expiresAtMs)
  }
}

const named = fc.constantFrom('a', 'b', 'c', 'd')
const owner = fc.constantFrom('ann', 'bob')
const step = fc.oneof(
  fc.record({ act: fc.constant('put' as const), owner, id: named, seat: named, handle: fc.nat(5) }),
  fc.record({ act: fc.constant('delete' as const), handle: fc.nat(5) }),
  fc.record({ act: fc.constant('wait' as const), parts: fc.nat(3) })
)

export async function testDocumentAgreement(t: Test, open: OpenForTest, runs: number): Promise<void> {
  t.test('random changes agree with a plain list', async (t) => {
    const { storage, clock } = await open(t)
    const tickets = new Documents(storage.documents, TICKET)
    let run = 0
    await fc.assert(
      fc.asyncProperty(fc.array(step, { minLength: 5, maxLength: 30 }), async (steps) => {
        const model = new Model()
        const named = `run${run++}`
        // Documents as they were read at some time, in the store and in the model.
        const handles: { readonly stored: Stored<Ticket>; readonly version: number }[] = []
        for (const each of steps) {
          if (each.act === 'wait') {
            // A tenth more than the TTL, so that the machine's time between steps does not count.
            const ms = each.parts * 0.55 * TICKET_TTL_MS
            clock.advance(ms)
            model.nowMs += ms
            continue
          }
          const handle = handles[each.handle]
          if (each.act === 'delete') {
            if (handle !== undefined)
              t.equal(await tickets.delete(handle.stored), model.delete(handle.version))
            continue
          }
          const isSame =
            handle?.stored.value.id === each.id && handle.stored.value.owner === `${named}${each.owner}`
          const before = isSame ? handle : null
          const ticket = { owner: `${named}${each.owner}`, id: each.id, seat: each.seat }
          const outcome =
            before === null ? await tickets.insert(ticket) : await tickets.update(before.stored, ticket)
          const expected = model.put(ticket, before?.version ?? null)
          if (typeof expected === 'string') t.strictSame(outcome, { ok: false, reason: expected })
          else if (outcome.ok) handles.unshift({ stored: outcome.stored, version: expected })
          else t.fail(`refused: ${outcome.reason}`)
        }
        for (const owner of [`${named}ann`, `${named}bob`]) {
          const expected = model.tickets.filter((ticket) => ticket.owner === owner)
          const by = (field: 'id' | 'seat'): Ticket[] =>
            expected.toSorted((a, b) => (a[field] < b[field] ? -1 : 1))
          t.strictSame(valuesOf((await tickets.list(owner, { limit: 9 })).documents), by('id'))
          t.strictSame(valuesOf((await tickets.listBy('bySeat', owner, { limit: 9 })).documents), by('seat'))
          for (const seat of ['a', 'b', 'c', 'd']) {
            const found = await tickets.findBy('seat', owner, [seat])
            t.strictSame(
              found?.value,
              expected.find((ticket) => ticket.seat === seat)
            )
          }
        }
      }),
      { numRuns: runs, seed: 1 }
    )
  })
}
