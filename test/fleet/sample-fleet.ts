import type { Announcement } from '../../src/fleet/announcement.ts'
import { Fleet } from '../../src/fleet/fleet.ts'
import type { Clock } from '../../src/ports.ts'

/** An announcement of a process with all roles and all work. */
export const announced = (changes: Partial<Announcement> = {}): Announcement => ({
  name: 'host/1',
  roles: ['ingest', 'gateway', 'delivery'],
  products: null,
  works: ['webhooks', 'transactions', 'revenue', 'program-accounts'],
  version: '1.2.3',
  startedAtMs: 1,
  settings: {},
  slot: null,
  shards: {},
  isDraining: false,
  index: 'none',
  ...changes
})

/** A fleet of a single process. */
export const aloneFleet = (clock: Pick<Clock, 'now'>, changes: Partial<Announcement> = {}): Fleet =>
  new Fleet({ id: 'a', clock, own: () => announced(changes), isAlone: true })
