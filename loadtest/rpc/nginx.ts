import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { freePort } from '../../test/servers/free-port.ts'
import { figuresOf } from '../measured-process.ts'

export interface Nginx {
  readonly url: string
  /** Processor time of its workers, in milliseconds. */
  cpuMs(): number
  end(): Promise<void>
}

/** Starts nginx in front of an upstream: `proxy_pass` over persistent connections, with one worker and no access log. */
export async function startNginx(upstream: string): Promise<Nginx> {
  const folder = mkdtempSync(join(tmpdir(), 'millrace-nginx-'))
  const port = await freePort(['127.0.0.1'])
  const { host } = new URL(upstream)
  writeFileSync(
    join(folder, 'nginx.conf'),
    `daemon off; worker_processes 1; pid ${folder}/pid; error_log ${folder}/error.log;
events { worker_connections 1024; }
http {
  access_log off; keepalive_requests 1000000000; client_body_temp_path ${folder}/a; proxy_temp_path ${folder}/b;
  fastcgi_temp_path ${folder}/c; uwsgi_temp_path ${folder}/d; scgi_temp_path ${folder}/e;
  upstream node { server ${host}; keepalive 64; keepalive_requests 1000000000; }
  server {
    listen 127.0.0.1:${port};
    location / {
      proxy_pass http://node; proxy_http_version 1.1; proxy_set_header Connection "";
      proxy_buffers 64 32k; proxy_max_temp_file_size 0;
    }
  }
}
`
  )
  const child = spawn('/usr/sbin/nginx', ['-p', folder, '-c', join(folder, 'nginx.conf')], {
    stdio: 'inherit'
  })
  const ended = once(child, 'exit')
  const url = `http://127.0.0.1:${port}`
  for (let attempts = 0; !(await isUp(url)); attempts++) {
    if (attempts === 50 || child.exitCode !== null) {
      child.kill('SIGTERM')
      throw new Error(`nginx does not start: see ${folder}/error.log`)
    }
    await sleep(100)
  }
  const workers = readFileSync(`/proc/${child.pid}/task/${child.pid}/children`, 'utf8')
    .trim()
    .split(' ')
    .map(Number)
  return {
    url,
    cpuMs: () => workers.reduce((sum, pid) => sum + figuresOf(pid).threadsCpuMs(), 0),
    end: async () => {
      child.kill('SIGTERM')
      await ended
      rmSync(folder, { recursive: true, force: true })
    }
  }
}

const isUp = (url: string): Promise<boolean> =>
  fetch(url, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: '{"jsonrpc":"2.0","id":1,"method":"getVersion"}'
  }).then(
    async (answer) => (await answer.text()).includes('result'),
    () => false
  )
