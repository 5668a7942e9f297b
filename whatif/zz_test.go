package whatif_test
import ("testing";"context";"straggler/whatif";"straggler/whatif/policy";"time";"fmt";"syscall";"runtime/debug";"runtime")
func TestZZBig(t *testing.T){
 t0:=time.Now()
 w:=workload(1_000_000)
 runtime.GC(); debug.FreeOSMemory()
 fmt.Println("build",time.Since(t0), w.Pools[0].Attempts(), w.Pools[0].Jobs())
 var all []policy.Policy
 for _,s:=range policy.Specs()[:20] { p,_:=policy.ByName(s.Name); all=append(all,p) }
 p2,_:=policy.ByName("no-network"); all=append(all,p2)
 var r0,r1 syscall.Rusage
 for i:=range all {
 syscall.Getrusage(0,&r0)
 t1:=time.Now()
 _,err:=whatif.Compare(context.Background(),w,whatif.Options{Policies:all[i:i+1],Errors:[]float64{0.1},Seeds:4})
 if err!=nil {t.Fatal(err)}
 syscall.Getrusage(0,&r1)
 cpu:=float64(r1.Utime.Nano()-r0.Utime.Nano()+r1.Stime.Nano()-r0.Stime.Nano())/1e9
 fmt.Printf("%-14s wall %v cpu %.2f per seed %.2f maxrss %d MB\n",all[i].Name,time.Since(t1).Round(time.Millisecond),cpu,cpu/4,r1.Maxrss/1024)
 }
}
