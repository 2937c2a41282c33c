"""Scripts that read standard input, right ones and others, in manners that a judge may stumble over."""

ADD = "a, b = map(int, input().split())\nprint(a + b)\n"

HONEST_SCRIPTS = {
    "the line ends of Windows": "import sys\nsys.stdout.write(str(sum(map(int,input().split())))+'\\r\\n')",
    "two reads of everything": "import sys\nd=sys.stdin.read();e=sys.stdin.read()\nprint(sum(map(int,d.split())) if e=='' else -1)",
    "a signal set as in C": "import signal\nsignal.signal(signal.SIGPIPE, signal.SIG_DFL)\n" + ADD,
    "a child that prints too late": "import os,time\nif os.fork()==0:\n    time.sleep(0.5)\n    os.write(1,b'99')\n    os._exit(0)\n" + ADD,
    "a child that prints for it": "import os\npid=os.fork()\nif pid==0:\n    a,b=map(int,input().split());print(a+b,flush=True);os._exit(0)\nos.wait()",
    "a daemon that stays behind": "import os,time\nif os.fork()==0:\n    os.setsid()\n    if os.fork()==0:\n        for i in range(100): time.sleep(0.01)\n        os._exit(0)\n    os._exit(0)\n" + ADD,
    "a look at its arguments": "import sys\nassert sys.argv==['main.py'] and __name__=='__main__'\n" + ADD,
    "arguments that nobody gave": "import argparse\nargparse.ArgumentParser().parse_args()\n" + ADD,
    "a pool of processes": "from multiprocessing import Pool\ndef g(v): return int(v)\nif __name__=='__main__':\n    with Pool(2) as p: print(sum(p.map(g,input().split())))",
    "a pool that spawns": "import multiprocessing as m\ndef g(v): return int(v)\nif __name__=='__main__':\n    with m.get_context('spawn').Pool(1) as p: print(sum(p.map(g,input().split())))",
    "an executor of processes": "from concurrent.futures import ProcessPoolExecutor as P\ndef g(v): return int(v)\nif __name__=='__main__':\n    with P(2) as p: print(sum(p.map(g,input().split())))",
    "a Python of its own": "import subprocess,sys\nprint(subprocess.run([sys.executable,'-c','print(sum(map(int,input().split())))'],input=sys.stdin.read(),text=True,capture_output=True).stdout)",
    "a Python that reads for it": "import subprocess,sys\nsubprocess.run([sys.executable,'-c','print(sum(map(int,input().split())))'])",
    "a read by the descriptor": "import os\nprint(sum(map(int,os.read(0,1000).split())))",
    "lines of all files": "import fileinput\nprint(sum(int(w) for l in fileinput.input() for w in l.split()))",
    "all lines at once": "import sys\nfor l in sys.stdin.readlines(): print(sum(map(int,l.split())))",
    "lines by an iterator": "for l in iter(input,''):\n    print(sum(map(int,l.split())))\n    break",
    "input until its end": "t=0\nwhile True:\n    try: t+=sum(map(int,input().split()))\n    except EOFError: break\nprint(t)",
    "another reader for its input": "import sys,io\nsys.stdin=io.TextIOWrapper(open(0,'rb',closefd=False))\n" + ADD,
    "the device of its output": "a,b=map(int,input().split())\nopen('/dev/stdout','w').write(str(a+b))",
    "a log": "import logging\nlogging.basicConfig(level=10)\nlogging.info('x'*1000)\n" + ADD,
    "a recursion without a thread": "import sys\nsys.setrecursionlimit(10**6)\ndef d(n): return 0 if n==0 else 1+d(n-1)\nassert d(5000)==5000\n" + ADD,
}  # fmt: skip

HOSTILE_SCRIPTS = {
    "counting its cases": ("import os\nn=len(os.listdir('.'))\nopen(f'c{n}','w')\nprint(n)", "failed"),
    "a mark before the answer": ("print('\\ufeff'+str(sum(map(int,input().split()))))", "failed"),
    "every answer at once": ("print(*range(100))", "failed"),
    "a null after the answer": ("a,b=map(int,input().split());print(str(a+b)+'\\x00')", "failed"),
    "closing its input": ("import os,sys\nos.close(0)\nprint(sum(map(int,input().split())))", "error"),
    "the answer on standard error": ("import os\nos.dup2(2,1)\n" + ADD, "failed"),
    "reading beyond its input": ("a=input()\nb=input()\nprint(a)", "error"),
    "a hundred megabytes": ("import sys\nfor _ in range(100): sys.stdout.write('1'*(1<<20))", "output_limit"),
    "a hundred megabytes of errors": ("import os\nfor _ in range(100): os.write(2, b'1'*(1<<20))\n" + ADD, "output_limit"),
    "an abort after the answer": (ADD + "import os\nos.abort()", "crashed"),
    "an exit before its output is written": ("import os\na, b = map(int, input().split())\nprint(a + b)\nos._exit(0)", "failed"),
    "the answer to the case before": ("import os\nd=input()\nf='/tmp/k'\nif os.path.exists(f): print(open(f).read())\nelse:\n    open(f,'w').write('4')\n    print(2)", "failed"),
    "a number of many digits": ("a,b=map(int,input().split());print(10**100000)", "error"),
    "half a letter": ("import sys\nprint('\\ud800')", "error"),
    "an exit with a word": (ADD + "import sys\nsys.exit('bad')", "error"),
}  # fmt: skip
"""With the right verdict."""
