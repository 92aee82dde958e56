import { randomBytes, randomUUID } from 'node:crypto'
import { link, mkdir, open, readFile, rm } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import type { Config } from '../kernel/config/config.ts'
import { readSecretKey } from './settings.ts'
import { ServiceError } from '../kernel/errors.ts'

const KEY_BYTES = 32

/**
 * Returns the key that encrypts webhook secrets: the configured one, or else the one in the data folder, which is
 * created if it is missing. Several processes that start at once on one folder get the same key.
 *
 * @throws ServiceError STORAGE_UNAVAILABLE if the file cannot be read or written, or holds no key
 */
export async function webhookSecretKey(
  config: Pick<Config, 'webhookSecretKey' | 'dataDir'>
): Promise<Uint8Array> {
  if (config.webhookSecretKey !== null) return config.webhookSecretKey
  const path = join(config.dataDir, 'webhook-secret.key')
  try {
    const text = (await readIfThere(path)) ?? (await makeFile(path))
    const key = readSecretKey(text.trim())
    if (key !== null) return key
  } catch (cause) {
    const { code = 'no code' } = cause as NodeJS.ErrnoException
    throw new ServiceError('STORAGE_UNAVAILABLE', `cannot read or make the key file ${path} (${code})`, {
      cause
    })
  }
  throw new ServiceError(
    'STORAGE_UNAVAILABLE',
    `${path} is not base64 of 32 bytes; restore it from a backup. Without a backup all webhook secrets are lost: remove the file, and rotate each secret`
  )
}

async function readIfThere(path: string): Promise<string | null> {
  try {
    return await readFile(path, 'utf8')
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return null
    throw error
  }
}

/**
 * Writes a new key under a temporary name, then links it to its final name, so that a file with the final name is
 * always complete.
 */
async function makeFile(path: string): Promise<string> {
  const folder = dirname(path)
  await mkdir(folder, { recursive: true })
  const part = `${path}.${randomUUID()}.part`
  try {
    const file = await open(part, 'wx', 0o600)
    try {
      await file.writeFile(`${randomBytes(KEY_BYTES).toString('base64')}\n`)
      await file.sync()
    } finally {
      await file.close()
    }
    await link(part, path).catch((error: unknown) => {
      if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error
    })
  } finally {
    await rm(part, { force: true })
  }
  const directory = await open(folder)
  try {
    await directory.sync()
  } finally {
    await directory.close()
  }
  return readFile(path, 'utf8')
}
