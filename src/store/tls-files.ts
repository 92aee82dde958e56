import { readFile } from 'node:fs/promises'
import { createSecureContext } from 'node:tls'
import { ERRORS, ServiceError } from '../kernel/errors.ts'
import { variableOf, type Config, type SettingName } from '../kernel/config/config.ts'
import type { TlsOptions } from '../../storage/tls-options.ts'

/** Settings of the files for one kind of server. */
const FILES = {
  scylla: {
    ca: 'scyllaTlsCa',
    cert: 'scyllaTlsCertificate',
    key: 'scyllaTlsKey',
    name: 'scyllaTlsServerName'
  },
  redis: { ca: 'redisTlsCa', cert: 'redisTlsCertificate', key: 'redisTlsKey', name: 'redisTlsServerName' }
} as const

/**
 * Reads what TLS to a kind of server needs. The files are read at each start: a renewed certificate needs a restart. Rejects
 * with STORAGE_UNAVAILABLE, naming the setting of a file that cannot be read or used.
 */
export async function readTlsOptions(server: keyof typeof FILES, config: Config): Promise<TlsOptions> {
  const { ca, cert, key, name } = FILES[server]
  const [authorities, certificate, privateKey] = await Promise.all([
    read(config, ca),
    read(config, cert),
    read(config, key)
  ])
  const options = {
    ...(authorities !== null && { ca: authorities }),
    ...(certificate !== null && { cert: certificate }),
    ...(privateKey !== null && { key: privateKey })
  }
  try {
    createSecureContext(options)
  } catch (cause) {
    const settings = [ca, cert, key].filter((each) => config[each] !== null).map(variableOf)
    throw refusal(`the files of ${settings.join(', ')} cannot be used: ${(cause as Error).message}`, cause)
  }
  const servername = config[name]
  return { ...options, ...(servername !== null && { servername }) }
}

async function read(config: Config, name: SettingName): Promise<Buffer | null> {
  const path = config[name] as string | null
  if (path === null) return null
  return readFile(path).catch((cause: NodeJS.ErrnoException) => {
    throw refusal(`cannot read ${variableOf(name)}=${path} (${cause.code ?? cause.message})`, cause)
  })
}

const refusal = (message: string, cause: unknown): ServiceError =>
  new ServiceError(ERRORS.STORAGE_UNAVAILABLE, message, { cause })
