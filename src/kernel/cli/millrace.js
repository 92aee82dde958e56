#!/usr/bin/env node
// The sources need Node 26, which comes with the dependencies. An older Node hands over to that one.
import { spawn } from 'node:child_process'
import { createRequire } from 'node:module'
import { fileURLToPath } from 'node:url'
import './compile-cache.js'

const [major] = process.versions.node.split('.').map(Number)

if (major >= 26) {
  await import('../../main.ts')
} else {
  const child = spawn(bundledNode(), [fileURLToPath(import.meta.url), ...process.argv.slice(2)], {
    stdio: 'inherit'
  })
  for (const signal of ['SIGINT', 'SIGTERM']) process.on(signal, () => child.kill(signal))
  child.on('exit', (code, signal) => process.exit(signal === null ? (code ?? 1) : 1))
}

function bundledNode() {
  const { platform, arch } = process
  const require = createRequire(import.meta.url)
  for (const name of [
    `node-${platform === 'win32' ? 'win' : platform}-${arch}`,
    `node-bin-${platform}-${arch}`
  ]) {
    try {
      return require.resolve(`${name}/bin/node${platform === 'win32' ? '.exe' : ''}`)
    } catch {
      // The package may have its other name.
    }
  }
  console.error(
    `millrace needs Node 26 or newer; this is ${process.version}, and none came with the packages.`
  )
  process.exit(2)
}
