import { execFileSync, spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { copyFileSync, existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { createServer, type IncomingMessage, type Server } from 'node:http'
import { request } from 'node:https'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import t, { type Test } from 'tap'
import { ROOT } from '../house/sources.ts'
import { ownDirectory } from '../own-directory.ts'
import { notShown } from '../servers/not-run.ts'
import { until } from '../until.ts'

const NGINX = ['/usr/sbin/nginx', '/usr/local/sbin/nginx'].find((path) => existsSync(path))
const UNIT = join(ROOT, 'src/operations/systemd/millrace.service')

/** Starts a server, and returns its port. */
async function listen(t: Test, server: Server): Promise<number> {
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  t.teardown(() => void server.close())
  return (server.address() as AddressInfo).port
}

/** Returns a free port. */
async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  server.close()
  await once(server, 'close')
  return port
}

if (NGINX === undefined) notShown(t, 'nginx runs the proxy configuration', 'there is no nginx')
else {
  t.test('nginx with the proxy configuration forwards requests and sockets, and no metrics', async (t) => {
    const seen: string[] = []
    const upstream = createServer((incoming, answer) => {
      const { headers, url } = incoming
      seen.push([url, headers['x-forwarded-proto'], headers['x-forwarded-host']].join(' '))
      answer.end('answered')
    })
    upstream.on('upgrade', (incoming, socket) => {
      seen.push(`${incoming.url} ${incoming.headers.upgrade}`)
      socket.end('HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\n')
    })
    const upstreamPort = await listen(t, upstream)
    const folder = ownDirectory(t)
    mkdirSync(join(folder, 'logs'))
    const [key, certificate] = [join(folder, 'key.pem'), join(folder, 'certificate.pem')]
    const subject = ['-subj', '/CN=api.example.com', '-days', '1', '-nodes']
    execFileSync(
      'openssl',
      [
        'req',
        '-x509',
        '-newkey',
        'ec',
        '-pkeyopt',
        'ec_paramgen_curve:P-256',
        '-keyout',
        key,
        '-out',
        certificate,
        ...subject
      ],
      { stdio: 'ignore' }
    )
    const port = await freePort()
    const published = readFileSync(join(ROOT, 'src/operations/proxy/nginx.conf'), 'utf8')
    const site = published
      .replace('127.0.0.1:8900', `127.0.0.1:${upstreamPort}`)
      .replace('listen 443 ssl', `listen 127.0.0.1:${port} ssl`)
      .replace('/etc/ssl/millrace/fullchain.pem', certificate)
      .replace('/etc/ssl/millrace/key.pem', key)
    // Versions before 1.25.1 have the option in `listen`.
    const isOld =
      Number(/nginx\/1\.(\d+)/.exec(spawnSync(NGINX, ['-v'], { encoding: 'utf8' }).stderr)?.[1]) < 25
    writeFileSync(
      join(folder, 'nginx.conf'),
      `daemon off; pid ${folder}/nginx.pid; error_log stderr; events {}\nhttp { access_log off;\n${
        isOld ? site.replace('    http2 on;\n', '').replace(' ssl;', ' ssl http2;') : site
      }\n}\n`
    )
    const nginx = spawn(NGINX, ['-p', folder, '-c', join(folder, 'nginx.conf')], {
      stdio: ['ignore', 'ignore', 'pipe']
    })
    const ended = once(nginx, 'exit')
    t.teardown(async () => {
      nginx.kill('SIGTERM')
      await ended
    })
    const at = { host: '127.0.0.1', port, rejectUnauthorized: false, headers: { host: 'api.example.com' } }
    const answerOf = async (path: string): Promise<readonly [number, string]> => {
      const sent = request({ ...at, path }).end()
      const [answer] = (await once(sent, 'response')) as [IncomingMessage]
      return [answer.statusCode!, await text(answer)]
    }
    await until(
      () =>
        answerOf('/v1/health').then(
          ([status]) => status === 200,
          () => false
        ),
      'nginx listens',
      () => 50
    )
    t.strictSame(await answerOf('/v1/launches?limit=1'), [200, 'answered'])
    t.equal(seen.at(-1), '/v1/launches?limit=1 https api.example.com')
    t.equal((await answerOf('/metrics'))[0], 404)
    t.notOk(seen.some((line) => line.startsWith('/metrics')))
    const socket = request({
      ...at,
      path: '/v1/stream',
      headers: { ...at.headers, connection: 'upgrade', upgrade: 'websocket' }
    }).end()
    const [switched] = (await once(socket, 'upgrade')) as [IncomingMessage]
    t.equal(switched.statusCode, 101)
    t.equal(seen.at(-1), '/v1/stream websocket')
  })
}

const hasSystemd = spawnSync('systemd-analyze', ['--version']).status === 0
if (!hasSystemd) notShown(t, 'systemd takes the unit', 'there is no systemd-analyze')
else {
  t.test('systemd takes the unit', async (t) => {
    // The command and the user of the unit are absent here.
    const file = join(ownDirectory(t), 'millrace.service')
    copyFileSync(UNIT, file)
    writeFileSync(file, readFileSync(UNIT, 'utf8').replace(/^ExecStart=.*$/m, 'ExecStart=/bin/true'))
    const { stderr } = spawnSync('systemd-analyze', ['verify', file], { encoding: 'utf8' })
    t.notMatch(stderr, /millrace\.service:\d+|Unknown|Failed to parse/)
  })
}

t.test('the unit names the command that an installation has', async (t) => {
  t.match(readFileSync(UNIT, 'utf8'), /^ExecStart=\/opt\/millrace\/node_modules\/\.bin\/millrace serve$/m)
  t.ok(existsSync(join(ROOT, 'node_modules/.bin/millrace')))
})
