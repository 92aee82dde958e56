import { mkdir, readFile, writeFile } from 'node:fs/promises'
import { dirname } from 'node:path'

/**
 * The demo key of a localnet in clear text, so that `/docs` can offer it after a restart. Only a localnet on loopback
 * has this file; all other keys are stored as hashes.
 */
export class DemoKeyFile {
  readonly #path: string

  constructor(path: string) {
    this.#path = path
  }

  /** Returns the key; null if none was written. */
  async read(): Promise<string | null> {
    try {
      return (await readFile(this.#path, 'utf8')).trim()
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code === 'ENOENT') return null
      throw error
    }
  }

  /** Writes the key, readable only by the process's owner. */
  async write(key: string): Promise<void> {
    await mkdir(dirname(this.#path), { recursive: true })
    await writeFile(this.#path, `${key}\n`, { mode: 0o600 })
  }
}
