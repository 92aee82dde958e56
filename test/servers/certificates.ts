import { spawnSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'

/** PEM files of a test: an authority, and what it has signed. */
export interface Certificates {
  readonly ca: string
  readonly server: { readonly cert: string; readonly key: string }
  readonly client: { readonly cert: string; readonly key: string }
}

const KEY = ['-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:P-256', '-nodes', '-days', '2']

/** Makes an authority, a server's certificate for the names, and a client's, as files of the folder. */
export function makeCertificates(folder: string, names: readonly string[]): Certificates {
  const at = (name: string): string => join(folder, name)
  const make = (name: string, ...more: readonly string[]): void => {
    const files = ['-keyout', at(`${name}.key`), '-out', at(`${name}.pem`), '-subj', `/CN=${name}`]
    const made = spawnSync('openssl', ['req', '-x509', ...KEY, ...files, ...more], { encoding: 'utf8' })
    if (made.status !== 0) throw new Error(`openssl: ${made.error?.message ?? made.stderr}`)
  }
  const signed = ['-CA', at('ca.pem'), '-CAkey', at('ca.key'), '-addext', 'basicConstraints=CA:FALSE']
  make('ca')
  make('server', ...signed, '-addext', `subjectAltName=${names.join(',')}`)
  make('client', ...signed)
  const pair = (name: string) => ({ cert: at(`${name}.pem`), key: at(`${name}.key`) })
  return { ca: at('ca.pem'), server: pair('server'), client: pair('client') }
}

/** Reads files as the options of a client. */
export const optionsOf = ({ ca, client }: Certificates) => ({
  ca: readFileSync(ca),
  cert: readFileSync(client.cert),
  key: readFileSync(client.key)
})
