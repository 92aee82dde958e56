import { createPublicKey, sign, type KeyObject } from 'node:crypto'

/** A certificate and its key in PEM form, as TLS takes them. */
export interface TlsIdentity {
  readonly certificate: string
  readonly key: string
}

/** Common name of the certificates that Solana's nodes and clients present. */
const COMMON_NAME = 'Solana node'

// Tags of ASN.1 (X.680, 8.4 and X.690, 8.1.2).
const INTEGER = 0x02
const BIT_STRING = 0x03
const OBJECT_IDENTIFIER = 0x06
const UTF8_STRING = 0x0c
const GENERALIZED_TIME = 0x18
const SEQUENCE = 0x30
const SET = 0x31
const VERSION = 0xa0

/** Object identifiers 1.3.101.112 (Ed25519) and 2.5.4.3 (common name). */
const ED25519 = der(SEQUENCE, der(OBJECT_IDENTIFIER, Buffer.from([0x2b, 0x65, 0x70])))
const COMMON_NAME_ID = der(OBJECT_IDENTIFIER, Buffer.from([0x55, 0x04, 0x03]))

/**
 * Returns a self-signed certificate of an Ed25519 key, and the key. A leader reads only the public key; the TLS
 * handshake proves its possession. So the certificate never expires, and states nothing else.
 *
 * `node:crypto` reads certificates but creates none. This certificate has a fixed layout of about 250 bytes; X.509
 * packages would bring a dozen dependencies.
 */
export function tlsIdentity(privateKey: KeyObject): TlsIdentity {
  const name = der(
    SEQUENCE,
    der(SET, der(SEQUENCE, COMMON_NAME_ID, der(UTF8_STRING, Buffer.from(COMMON_NAME))))
  )
  const body = der(
    SEQUENCE,
    der(VERSION, der(INTEGER, Buffer.from([2]))),
    der(INTEGER, Buffer.from([1])),
    ED25519,
    name,
    der(SEQUENCE, time('19700101000000Z'), time('99991231235959Z')),
    name,
    createPublicKey(privateKey).export({ format: 'der', type: 'spki' })
  )
  // The first byte of a bit string is the number of unused bits in its last one.
  const signature = Buffer.concat([Buffer.from([0]), sign(null, body, privateKey)])
  const certificate = der(SEQUENCE, body, ED25519, der(BIT_STRING, signature))
  return {
    certificate: pem('CERTIFICATE', certificate),
    key: privateKey.export({ format: 'pem', type: 'pkcs8' }).toString()
  }
}

/** Encodes a value in DER: its tag, its length in the shortest form, its content. */
function der(tag: number, ...content: readonly Buffer[]): Buffer {
  const { length } = Buffer.concat(content)
  const size = length < 0x80 ? [length] : length < 0x100 ? [0x81, length] : [0x82, length >> 8, length & 0xff]
  return Buffer.concat([Buffer.from([tag, ...size]), ...content])
}

const time = (text: string): Buffer => der(GENERALIZED_TIME, Buffer.from(text))

function pem(label: string, bytes: Buffer): string {
  const lines = bytes.toString('base64').match(/.{1,64}/g)!
  return [`-----BEGIN ${label}-----`, ...lines, `-----END ${label}-----`, ''].join('\n')
}
