import { PRESENCE_MS, type HeardProcess, type HeardProcesses } from '../../storage/cluster/coordination.ts'
import { ERRORS, ServiceError } from '../kernel/errors.ts'
import type { Clock } from '../ports.ts'
import { announcementIn, type Announcement } from './announcement.ts'
import { differingSettings } from './differing-settings.ts'
import { ROLES, type Role, type Work } from './work.ts'

/** A process of the service, as this one knows it. */
export interface FleetProcess {
  readonly id: string
  readonly isThis: boolean
  readonly announcement: Announcement
  /** Milliseconds since its last announcement. */
  readonly silentMs: number
}

/** The server that the announcements were last read from. `alone`: no other process can open the store. */
export type FleetSource = 'redis' | 'store' | 'alone'

export interface FleetOptions {
  /** Random id of this process. */
  readonly id: string
  readonly clock: Pick<Clock, 'now'>
  /** Returns the announcement of this process. */
  readonly own: () => Announcement
  /** Whether no other process can open the store. */
  readonly isAlone: boolean
}

/**
 * Milliseconds of silence after which a process may have lost the server of the announcements alone: two of them, so that
 * another server has been asked for long enough when the process would count as gone.
 */
const DOUBT_MS = 2_000

interface Heard {
  readonly announcement: Announcement
  readonly heardAtMs: number
}

/**
 * The processes of the service, by their announcements.
 *
 * F1. A role is missing once no process has had it for `PRESENCE_MS`, and every announcement of that time would have been
 *     heard. A role of this process is never missing.
 * F2. While announcements cannot be read, nothing is known to be missing: a request is then accepted, because the store
 *     that could refuse it is the one that the work is read from.
 */
export class Fleet {
  readonly id: string
  readonly #options: FleetOptions
  readonly #others = new Map<string, Heard>()
  /** The last text of each process, with the announcement that it states. */
  readonly #read = new Map<string, { readonly text: string; readonly announcement: Announcement | null }>()
  #source: FleetSource | null
  #readAtMs = -Infinity
  #coversMs = 0

  constructor(options: FleetOptions) {
    this.id = options.id
    this.#options = options
    this.#source = options.isAlone ? 'alone' : null
  }

  /** The announcement of this process. */
  get own(): Announcement {
    return this.#options.own()
  }

  /** Null before the first announcements were read. */
  get source(): FleetSource | null {
    return this.#source
  }

  /** Whether announcements were read a moment ago. Otherwise there may be processes that this one does not know. */
  get isHearing(): boolean {
    return this.#source === 'alone' || this.#options.clock.now() - this.#readAtMs <= PRESENCE_MS
  }

  /** Adds the announcements that were read from a server. Those that no version of this service writes are ignored. */
  hear({ coversMs, processes }: HeardProcesses, source: FleetSource): void {
    const nowMs = this.#options.clock.now()
    this.#source = source
    this.#readAtMs = nowMs
    this.#coversMs = coversMs
    for (const { id, text, silentMs } of processes) {
      const announcement = id === this.id ? null : this.#announcementOf(id, text)
      if (announcement !== null) this.#others.set(id, { announcement, heardAtMs: nowMs - silentMs })
    }
    // A process that says farewell is gone at once.
    const listed = new Set(processes.map(({ id }) => id))
    for (const id of this.#others.keys()) if (!listed.has(id)) this.#others.delete(id)
    for (const id of this.#read.keys()) if (!listed.has(id)) this.#read.delete(id)
  }

  /** Tells whether a role has no process that announced itself a moment ago: another server may know of one. */
  isDoubtful(processes: readonly HeardProcess[]): boolean {
    const roles = new Set<Role>(this.own.roles)
    for (const { id, text, silentMs } of processes)
      if (silentMs <= DOUBT_MS)
        for (const role of this.#announcementOf(id, text)?.roles ?? []) roles.add(role)
    return roles.size < ROLES.length
  }

  /** Reads the announcement of a process, once for each text. */
  #announcementOf(id: string, text: string): Announcement | null {
    const known = this.#read.get(id)
    if (known?.text === text) return known.announcement
    const announcement = announcementIn(text)
    this.#read.set(id, { text, announcement })
    return announcement
  }

  /** The live processes, this one first, then by start. */
  get processes(): readonly FleetProcess[] {
    const nowMs = this.#options.clock.now()
    const own = { id: this.id, isThis: true, announcement: this.own, silentMs: 0 }
    const others = [...this.#others]
      .map(([id, { announcement, heardAtMs }]) => ({
        ...{ id, isThis: false, announcement },
        silentMs: Math.max(0, nowMs - heardAtMs)
      }))
      .filter(({ silentMs }) => silentMs <= PRESENCE_MS)
      .sort((a, b) => a.announcement.startedAtMs - b.announcement.startedAtMs)
    return [own, ...others]
  }

  /** Number of live processes with a role. */
  count(role: Role): number {
    return this.processes.filter(({ announcement: { roles } }) => roles.includes(role)).length
  }

  /** Roles that no process has (F1). */
  get missingRoles(): readonly Role[] {
    if (!this.#isKnown) return []
    return ROLES.filter((role) => this.count(role) === 0)
  }

  /** Returns the refusal of a request that leaves work which no process does; null if one does it, or may (F2). */
  absence({ name, role }: Work): ServiceError | null {
    if (this.own.works.includes(name) || !this.#isKnown) return null
    const withRole = this.processes.filter(({ announcement: { roles } }) => roles.includes(role))
    if (withRole.some(({ announcement: { works } }) => works.includes(name))) return null
    return new ServiceError(ERRORS.ROLE_MISSING, this.#absenceText(role, withRole.length > 0), {
      members: { role }
    })
  }

  /** Settings of this process that differ from those of its peers, by the name of the variable. */
  get differing(): readonly string[] {
    return this.differingOf(this.id)
  }

  differingOf(id: string): readonly string[] {
    const { processes } = this
    const process = processes.find((each) => each.id === id)
    return process === undefined
      ? []
      : differingSettings(
          process.announcement,
          processes.map(({ announcement }) => announcement)
        )
  }

  /** The newest slot that any process has published. */
  get newestSlot(): number | null {
    const slots = this.processes.flatMap(({ announcement: { slot } }) => slot ?? [])
    return slots.length === 0 ? null : Math.max(...slots)
  }

  get #isKnown(): boolean {
    if (this.#source === 'alone') return true
    return this.#coversMs >= PRESENCE_MS && this.isHearing
  }

  #absenceText(role: Role, hasRole: boolean): string {
    if (hasRole)
      return `no process with the role ${role} does this work, for example because it has no node (MILLRACE_RPC_URL)`
    if (this.#source === 'alone')
      return `this process does not have the role ${role} (MILLRACE_ROLE), and no other can open the embedded store`
    return `no process has had the role ${role} for ${PRESENCE_MS / 1_000} s, so nobody would do this; start one with --role ${role}`
  }
}
