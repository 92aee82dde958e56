import { mkdir, open, readdir, readFile, rename, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { gunzip, gzip } from 'node:zlib'
import { readRecordText } from '../recorded/loader.ts'

const zip = promisify(gzip)
const unzip = promisify(gunzip)

const NAME = /^(\d{1,15})\.json\.gz$/
const PART = /^\d{1,15}\.json\.gz\.part$/
/** Maximum size of one decompressed block. Mainnet blocks of 2026 have 5 to 15 MB of JSON. */
const BLOCK_BYTES_MAX = 256 * 1024 * 1024

/** A recorded folder that blocks are written to: `SLOT.json.gz` each, the JSON-RPC response as the node sent it. */
export class BlockFolder {
  readonly directory: string
  /** Slots with complete blocks in the folder. */
  readonly slots: Set<number>
  /** Names of torn files that were found and deleted. */
  readonly torn: readonly string[]

  private constructor(directory: string, slots: Set<number>, torn: readonly string[]) {
    this.directory = directory
    this.slots = slots
    this.torn = torn
  }

  /**
   * Opens a folder, and creates it if it is missing. Reads every block of the range in it, to exclude torn blocks and
   * blocks of another slot. Rejects with file system errors, or when the signal aborts.
   */
  static async open(directory: string, from: number, to: number, signal: AbortSignal): Promise<BlockFolder> {
    await mkdir(directory, { recursive: true })
    const slots = new Set<number>()
    const torn: string[] = []
    for (const name of await readdir(directory)) {
      signal.throwIfAborted()
      if (PART.test(name)) await rm(join(directory, name))
      const slot = Number(NAME.exec(name)?.[1] ?? -1)
      if (slot < from || slot > to) continue
      if (await isWhole(join(directory, name), slot)) slots.add(slot)
      else {
        await rm(join(directory, name))
        torn.push(name)
      }
    }
    return new BlockFolder(directory, slots, torn)
  }

  /**
   * Writes the response of a slot and returns its compressed size in bytes. The file gets its name only after it is on
   * disk.
   */
  async write(slot: number, body: Buffer): Promise<number> {
    const path = join(this.directory, `${slot}.json.gz`)
    const packed = await zip(body)
    const file = await open(`${path}.part`, 'w')
    try {
      await file.writeFile(packed)
      await file.sync()
    } finally {
      await file.close()
    }
    await rename(`${path}.part`, path)
    this.slots.add(slot)
    return packed.length
  }
}

async function isWhole(path: string, slot: number): Promise<boolean> {
  try {
    const text = (await unzip(await readFile(path), { maxOutputLength: BLOCK_BYTES_MAX })).toString('utf8')
    const outcome = readRecordText(text, path)
    return outcome.kind === 'block' && outcome.block.slot === slot
  } catch {
    return false
  }
}
