// The official artifact client as a command; what it found out goes to the file RESULT as JSON.
//   node official.mjs RESULT upload NAME FOLDER FILE…
//   node official.mjs RESULT download NAME FOLDER
import { writeFileSync } from 'node:fs'
import { DefaultArtifactClient } from '@actions/artifact'

const [result, verb, name, folder, ...files] = process.argv.slice(2)
const client = new DefaultArtifactClient()

async function download() {
  const { artifact } = await client.getArtifact(name)
  const done = await client.downloadArtifact(artifact.id, { path: folder, expectedHash: artifact.digest })
  return { ...artifact, digestMismatch: done.digestMismatch }
}

const answer = verb === 'upload' ? await client.uploadArtifact(name, files, folder, { retentionDays: 3 }) : await download()
writeFileSync(result, JSON.stringify(answer))
