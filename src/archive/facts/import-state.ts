import { z } from 'zod'
import { VENUE_IDS } from '../../chain/venue-id.ts'
import { ERRORS, ServiceError } from '../../kernel/errors.ts'
import type { FactStore } from '../../../storage/port.ts'

const range = z.object({ from: z.number(), to: z.number() })

/** The trades that one path of an import has stated. */
const SOURCE = z.object({
  /** Name of the file or folder, without the path to it. */
  name: z.string(),
  /** Names of the mappings that its columns were read by. */
  columns: z.array(z.string()),
  /** Lowest and highest slot of the trades of each venue; trades without a slot are not in it. */
  slots: z.partialRecord(z.enum(VENUE_IDS), range),
  /** Lowest and highest block time of trades without a slot. */
  times: z.partialRecord(z.enum(VENUE_IDS), range)
})
export type ImportSource = z.infer<typeof SOURCE>

const STATE = z.object({
  version: z.literal(1),
  /** Venues whose events give rows: those of all imports. */
  venues: z.array(z.enum(VENUE_IDS)),
  /** Pegged mints of the operator. */
  usdMints: z.array(z.string()),
  /** Whether the store may differ from the fold of the facts up to its head, so that it must be folded again. */
  isStale: z.boolean(),
  /** Number of the store that the state is about (`fold-number.ts`). Another store may come from a backup. */
  fold: z.number(),
  /** Whether rows up to the head are held back, which later facts may complete. */
  hasHeldBack: z.boolean(),
  /** Whether rows without a slot are stored. Their places follow from all facts. */
  hasTimed: z.boolean(),
  /** The first indexed slot at the last fold; null before the first one, and if nothing was indexed. */
  firstLive: z.number().nullable(),
  /** Whether the facts have the blocks of the store; not so if an earlier version imported them. */
  hasBlocks: z.boolean(),
  /** The second store, in which the facts are folded again; null if no fold is under way. */
  filling: z.object({ hasHeldBack: z.boolean() }).nullable(),
  sources: z.array(SOURCE),
  /** The import whose paths are being read; null between imports. */
  reading: z
    .object({
      /** Names the paths and their contents, the mapping and the venue. */
      key: z.string(),
      /** Files of rows that are read, and the rows of the next one that are stored. */
      files: z.number(),
      rows: z.number(),
      /** Whether all paths are read, so that only the fold is left. */
      isDone: z.boolean(),
      /** Bytes of the file of refused rows that belong to what is read. */
      refusedBytes: z.number()
    })
    .nullable()
})
export type ImportState = z.infer<typeof STATE>

const POSITION = 0
const KEY = Uint8Array.of(1)

/** The durable state of an archive's imports, which only the import that owns the archive changes. */
export class StoredState {
  readonly #facts: FactStore
  #value: ImportState
  #isStored = true

  private constructor(facts: FactStore, value: ImportState) {
    this.#facts = facts
    this.#value = value
  }

  /** Returns a state that is in memory alone. */
  static unstored(facts: FactStore, value: ImportState): StoredState {
    const state = new StoredState(facts, value)
    state.#isStored = false
    return state
  }

  /** Reads the state; null before the first import by a version that stores facts. */
  static async read(facts: FactStore): Promise<StoredState | null> {
    const [fact] = await facts.at('state', POSITION)
    if (fact === undefined) return null
    const parsed = STATE.safeParse(JSON.parse(Buffer.from(fact.value).toString('utf8')))
    if (!parsed.success)
      throw new ServiceError(
        ERRORS.STORAGE_UNAVAILABLE,
        'the state of the archive is of a later version: import with that version'
      )
    return new StoredState(facts, parsed.data)
  }

  static async begin(facts: FactStore, value: ImportState): Promise<StoredState> {
    const state = new StoredState(facts, value)
    await state.#write()
    return state
  }

  get value(): ImportState {
    return this.#value
  }

  /** Changes the state; resolves once that is durable. Writes nothing if all fields are as they were. */
  async change(changed: Partial<ImportState>): Promise<void> {
    const before = JSON.stringify(this.#value)
    this.#value = { ...this.#value, ...changed }
    if (this.#isStored && JSON.stringify(this.#value) !== before) await this.#write()
  }

  async #write(): Promise<void> {
    const value = Buffer.from(JSON.stringify(this.#value))
    await this.#facts.put('state', [{ position: POSITION, key: KEY, value }])
  }
}

/** The state of an archive without facts. */
export const newState = (hasBlocks: boolean): ImportState => ({
  version: 1,
  venues: [],
  usdMints: [],
  isStale: false,
  fold: 0,
  hasHeldBack: false,
  hasTimed: false,
  firstLive: null,
  hasBlocks,
  filling: null,
  sources: [],
  reading: null
})
