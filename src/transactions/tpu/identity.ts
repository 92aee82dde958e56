import { createPrivateKey, createPublicKey, generateKeyPairSync, type KeyObject } from 'node:crypto'
import { readFile } from 'node:fs/promises'
import { z } from 'zod'
import { encodeBase58 } from '../../chain/base58.ts'

/**
 * The key by which leaders identify this process. The stake of a validator with this identity decides how much it may
 * send.
 */
export interface LeaderIdentity {
  readonly privateKey: KeyObject
  /** The public key in base58. */
  readonly address: string
}

const SEED_BYTES = 32
/** Bytes before the seed in the PKCS #8 form of an Ed25519 key (RFC 8410, section 7). */
const PKCS8_HEAD = Buffer.from('302e020100300506032b657004220420', 'hex')

/** A keypair file of Solana's tools: the seed and the public key, each of 32 bytes. */
const keypairBytes = z.array(z.int().min(0).max(255)).length(2 * SEED_BYTES)

/** Returns a new identity, unique to this process and without stake. */
export function ephemeralIdentity(): LeaderIdentity {
  return identityOf(generateKeyPairSync('ed25519').privateKey)
}

/**
 * Reads the text of a keypair file.
 *
 * @throws TypeError that names the fault and contains no part of the text
 */
export function parseIdentity(text: string): LeaderIdentity {
  const parsed = keypairBytes.safeParse(jsonOf(text))
  if (!parsed.success) throw new TypeError('is not a JSON array of 64 bytes, as `solana-keygen` writes it')
  const bytes = Buffer.from(parsed.data)
  const der = Buffer.concat([PKCS8_HEAD, bytes.subarray(0, SEED_BYTES)])
  const identity = identityOf(createPrivateKey({ key: der, format: 'der', type: 'pkcs8' }))
  if (identity.address !== encodeBase58(bytes.subarray(SEED_BYTES)))
    throw new TypeError('is not a keypair: its last 32 bytes are not the public key of the first 32')
  return identity
}

/**
 * Reads a keypair file.
 *
 * @throws TypeError that names the file and the fault
 */
export async function readIdentityFile(path: string): Promise<LeaderIdentity> {
  try {
    return parseIdentity(await readFile(path, 'utf8'))
  } catch (cause) {
    const { code, message } = cause as NodeJS.ErrnoException
    const detail = code === undefined ? message : `cannot be read (${code})`
    throw new TypeError(`MILLRACE_TPU_IDENTITY=${path} ${detail}`, { cause })
  }
}

function identityOf(privateKey: KeyObject): LeaderIdentity {
  const spki = createPublicKey(privateKey).export({ format: 'der', type: 'spki' })
  return { privateKey, address: encodeBase58(spki.subarray(-SEED_BYTES)) }
}

function jsonOf(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}
