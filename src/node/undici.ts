import { createRequire } from 'node:module'
import type * as Undici from 'undici'

const require = createRequire(import.meta.url)

/**
 * The modules of undici that a service needs. Its index also loads fetch, caches and mocks, which take 8 MB and 40 ms
 * of CPU time at each start. The paths are those of the version in package.json.
 */
export const Pool = require('undici/lib/dispatcher/pool.js') as typeof Undici.Pool
export type Pool = Undici.Pool
export const Client = require('undici/lib/dispatcher/client.js') as typeof Undici.Client
export type Client = Undici.Client
export const buildConnector = require('undici/lib/core/connect.js') as typeof Undici.buildConnector
export const errors = require('undici/lib/core/errors.js') as typeof Undici.errors

// Like undici's index, adds `request` and the other methods to every dispatcher.
const { prototype } = require('undici/lib/dispatcher/dispatcher.js') as typeof Undici.Dispatcher
Object.assign(prototype, require('undici/lib/api/index.js'))
