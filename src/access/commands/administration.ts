import { stat } from 'node:fs/promises'
import { KeyDirectory } from '../key-directory.ts'
import type { Config } from '../../kernel/config/config.ts'
import { deploymentRefusal } from '../../kernel/config/deployment.ts'
import { ServiceError } from '../../kernel/errors.ts'
import { administrationApp } from '../routes/administration-app.ts'
import { systemPorts } from '../../ports.ts'
import { openAll, openStore, storeDirectory } from '../../store/opening.ts'
import { askService, Unreachable, type Order, type Outcome } from '../../kernel/cli/service-client.ts'
import { urlHost } from '../../kernel/cli/url-host.ts'

/** Access to tenants and keys: in the store itself, or through the service that has it open. */
export interface Administration {
  readonly ask: (order: Order) => Promise<Outcome>
  readonly close: () => Promise<void>
}

/**
 * Opens the access to tenants and keys: through the service at `url` if it is set, else in the store. A shared store can be
 * used while services run. If an embedded store is in use, the service that has it open is used, with the operator's admin
 * key. Rejects with Unreachable.
 */
export async function openAdministration(config: Config, url: string | null): Promise<Administration> {
  if (url !== null) return overHttp(config, url)
  if (config.storage !== 'embedded') return inCluster(config)
  const directory = storeDirectory(config)
  if ((await stat(directory).catch(() => null)) === null) {
    throw new Unreachable(
      `there is no store in ${directory}; set its folder with --data-dir, or the service with --url`
    )
  }
  try {
    return await inStore(config)
  } catch (error) {
    if (!(error instanceof ServiceError)) throw error
    if (config.adminKey === null)
      throw new Unreachable(`${error.detail}; set MILLRACE_ADMIN_KEY to use the service`)
    return overHttp(config, `http://${urlHost(config.host)}:${config.port}`)
  }
}

async function inStore(config: Config): Promise<Administration> {
  const storage = await openStore(config)
  const close = () => storage.close()
  try {
    return throughApp(
      await KeyDirectory.load(storage, config.rateLimitPerMinute, null, config.workPerMinute),
      close
    )
  } catch (error) {
    await close()
    throw error
  }
}

/** Opens a shared store; running services are notified of changes. */
async function inCluster(config: Config): Promise<Administration> {
  const refusal = deploymentRefusal({ ...config, role: ['ingest', 'gateway'] })
  if (refusal !== null) throw new Unreachable(refusal)
  try {
    const { storage, peers } = await openAll(config, { info: () => undefined, warn: () => undefined })
    const close = async (): Promise<void> => {
      await peers.close()
      await storage.close()
    }
    try {
      const others = { publish: () => peers.keys?.publish() }
      return throughApp(
        await KeyDirectory.load(storage, config.rateLimitPerMinute, others, config.workPerMinute),
        close
      )
    } catch (error) {
      await close()
      throw error
    }
  } catch (error) {
    throw error instanceof ServiceError ? new Unreachable(error.detail, { cause: error }) : error
  }
}

function throughApp(keys: KeyDirectory, close: () => Promise<void>): Administration {
  const app = administrationApp({ keys, clock: systemPorts.clock })
  return {
    async ask({ method, path, body }) {
      const response = await app.inject({
        method,
        url: path,
        ...(body === undefined ? {} : { payload: body })
      })
      return { status: response.statusCode, body: response.json<Outcome['body']>() }
    },
    async close() {
      await app.close()
      await close()
    }
  }
}

function overHttp({ adminKey }: Config, url: string): Administration {
  if (adminKey === null) throw new Unreachable('set MILLRACE_ADMIN_KEY to use the service')
  return { ask: (order) => askService(url, adminKey, order), close: async () => undefined }
}
